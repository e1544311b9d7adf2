// Shows what an import would do: how many plants are new, known or refused, and why.

import type { ImportResult } from 'plant-store/client';
import { errorText } from '../session/error-text.ts';
import { Problem } from '../shared/field.tsx';
import { Icon } from '../shared/icon.tsx';
import { bytes, count, number } from '../shared/numbers.ts';
import type { DryRun } from './dry-run.ts';
import { type ChosenFile, fileErrorText } from './import-run.tsx';

const PROBLEMS_SHOWN = 6;

export function OutcomeCard({ chosen, dryRun }: { chosen: ChosenFile; dryRun: DryRun }) {
  const { result, isWhole, isChecking, error, checkAgain, checkAll, stop } = dryRun;
  return (
    <section class="card pad" aria-labelledby="outcome-title" aria-busy={isChecking}>
      <header class="card-head flat">
        <h2 id="outcome-title">
          {isWhole || !result ? 'What will happen' : `In the first ${count(totalOf(result), 'line')}`}
        </h2>
        {checkAll && (
          <button type="button" class="btn s" onClick={checkAll}>
            Check the whole file
          </button>
        )}
        {stop && (
          <button type="button" class="btn s" onClick={stop}>
            Stop the check
          </button>
        )}
      </header>
      <p role="status" class={isChecking ? 'help late' : 'unseen'}>
        {isChecking
          ? `Checking ${stop || isWhole ? `all ${bytes(chosen.file.size)}` : 'the first lines'}. Nothing is stored.`
          : result && `Checked: ${number(result.created)} new, ${number(result.failed)} refused`}
      </p>
      {error && !isChecking && (
        <>
          <Problem text={fileErrorText(error)} />
          <div class="btn-row">
            <button type="button" class="btn s" onClick={checkAgain}>
              Try again
            </button>
          </div>
        </>
      )}
      {result && <Tally result={result} />}
      {result && result.errors.length > 0 && <Problems result={result} />}
    </section>
  );
}

function Tally({ result }: { result: ImportResult }) {
  const { created, replayed, failed, errors } = result;
  // The report lists the first errors only, so that of more no kind is known.
  const taken = failed > errors.length ? 0 : errors.filter(({ error }) => error.code === 'id_taken').length;
  const bad = failed - taken;
  return (
    <ul class="tally">
      <li class="ok">
        <Icon name="good" />
        <b>{number(created)}</b>
        <span>new {created === 1 ? 'plant' : 'plants'}</span>
      </li>
      {replayed > 0 && (
        <li>
          <Icon name="minus" />
          <b>{number(replayed)}</b>
          <span>stored already, unchanged</span>
        </li>
      )}
      {taken > 0 && (
        <li class="warn">
          <Icon name="alert" />
          <b>{number(taken)}</b>
          <span>{taken === 1 ? 'id belongs to another plant' : 'ids belong to other plants'}, left out</span>
        </li>
      )}
      {bad > 0 && (
        <li class="bad">
          <Icon name="bad" />
          <b>{number(bad)}</b>
          <span>{bad === 1 ? 'line with a problem' : 'lines with problems'}, left out</span>
        </li>
      )}
    </ul>
  );
}

function Problems({ result: { errors, failed } }: { result: ImportResult }) {
  return (
    <ul class="problems">
      {errors.slice(0, PROBLEMS_SHOWN).map(({ line, error }) => (
        <li key={line}>
          <b>Line {number(line)}</b> <bdi>{errorText(error)}</bdi>
        </li>
      ))}
      {failed > PROBLEMS_SHOWN && (
        <li>
          And {number(failed - PROBLEMS_SHOWN)} more. After the import you can download all refused lines
          {failed > errors.length && `, up to ${number(errors.length)}`}.
        </li>
      )}
    </ul>
  );
}

/** Returns the number of lines that a result is about. */
export function totalOf({ created, replayed, failed }: ImportResult): number {
  return created + replayed + failed;
}
