// How far a long piece of work is: a bar on a terminal, now and then a line otherwise. On standard error, since
// standard output may be the result.

import progress from 'cli-progress';
import { toSafeText } from '../../lib/safe-text.ts';

const LINE_EVERY_MS = 5000;

export interface Progress {
  /** `done` of the total, in whatever that is counted; `plants` so far. */
  update(done: number, plants: number): void;
  /** A line of its own, above the bar; it may hold words of strangers. */
  say(line: string): void;
  stop(): void;
}

/** Without a total nobody knows how long it takes. */
export function startProgress(verb: string, total: number | undefined, unit = 'plants'): Progress {
  const startMs = performance.now();
  return process.stderr.isTTY ? bar() : lines();

  function bar(): Progress {
    const shown = new progress.SingleBar({
      format: total ? `${verb} {bar} {percentage} % | {plants} | {rate} | {left} left` : `${verb} {plants} | {rate}`,
      stream: process.stderr,
      barsize: 30,
      hideCursor: true,
      clearOnComplete: true,
      stopOnComplete: false,
    });
    // What it prints goes on below: the place where the bar began may be anywhere by then.
    Object.assign(shown, { terminal: Object.assign(terminalOf(shown), { cursorSave() {}, cursorRestore() {} }) });
    shown.start(total ?? 1, 0, describe(0, 0));
    return {
      update: (done, plants) => shown.update(total ? done : 0, describe(done, plants)),
      say: (line) => process.stderr.write(`\r\x1b[K${toSafeText(line)}\n`),
      stop: () => shown.stop(),
    };
  }

  function lines(): Progress {
    let saidMs = startMs;
    return {
      update(done, plants) {
        if (performance.now() - saidMs < LINE_EVERY_MS) return;
        saidMs = performance.now();
        const shown = describe(done, plants);
        const share = total ? `${Math.floor((100 * done) / total)} %, ` : '';
        const left = total ? `, ${shown.left} left` : '';
        process.stderr.write(`${verb}: ${share}${shown.plants}, ${shown.rate}${left}\n`);
      },
      say: (line) => process.stderr.write(`${toSafeText(line)}\n`),
      stop() {},
    };
  }

  function describe(done: number, plants: number): { plants: string; rate: string; left: string } {
    const seconds = (performance.now() - startMs) / 1000;
    const secondsLeft = total && done > 0 ? (seconds * (total - done)) / done : undefined;
    return {
      plants: `${plants.toLocaleString('en')} ${unit}`,
      rate: `${Math.round(plants / Math.max(seconds, 0.001)).toLocaleString('en')}/s`,
      left: secondsLeft === undefined ? '?' : duration(Math.ceil(secondsLeft)),
    };
  }
}

/** Its types leave it out. */
function terminalOf(shown: progress.SingleBar): object {
  return (shown as unknown as { terminal: object }).terminal;
}

function duration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
