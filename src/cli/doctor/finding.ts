// Defines the result of a check of the command doctor, and runs checks so that none of them hides the others.

import { withDeadline } from '../../lib/deadline.ts';
import { UserError } from '../../lib/user-error.ts';

/** Timeout of a check that waits. The timeouts of its own requests are shorter. */
const CHECK_TIMEOUT_MS = 15_000;

/** Advice by SQLSTATE, or by the code of a system error. */
const ADVICE: Record<string, string> = {
  '42501': 'Log in as the owner of the tables, or let the owner grant all rights on them to this role.',
  ENAMETOOLONG: 'Use a shorter path.',
};

export type Status = 'ok' | 'warning' | 'problem' | 'skipped';

export interface Finding {
  status: Status;
  /** A phrase, without a full stop. */
  found: string;
  /** One or two sentences that say what to do. */
  advice?: string;
}

export interface CheckResult extends Finding {
  check: string;
}

/** A check returns undefined if it does not apply. */
export type Check<Context> = (context: Context) => Finding | undefined | Promise<Finding | undefined>;

export function ok(found: string): Finding {
  return { status: 'ok', found };
}

export function warning(found: string, advice: string): Finding {
  return { status: 'warning', found, advice };
}

export function problem(found: string, advice: string): Finding {
  return { status: 'problem', found, advice };
}

export function skipped(found: string, advice: string): Finding {
  return { status: 'skipped', found, advice };
}

/** Runs checks, by their labels, one after the other. */
export async function* runChecks<Context>(
  checks: Record<string, Check<Context>>,
  context: Context,
): AsyncGenerator<CheckResult> {
  for (const [check, run] of Object.entries(checks)) {
    const finding = await withDeadline(settle(run, context), CHECK_TIMEOUT_MS, noResult);
    if (finding) yield { check, ...finding };
  }
}

async function settle<Context>(run: Check<Context>, context: Context): Promise<Finding | undefined> {
  try {
    return await run(context);
  } catch (error) {
    return toProblem(error);
  }
}

/** Returns the problem that an error stands for. The first sentence of a UserError says what failed. */
export function toProblem(error: unknown): Finding {
  const { message, code } = error as NodeJS.ErrnoException;
  if (!(error instanceof UserError)) {
    const known = ADVICE[code ?? ''];
    if (known !== undefined) return problem(message, known);
    return problem(
      `the check failed: ${message || code}`,
      'Check the disk and the network. If they work, report this as a bug.',
    );
  }
  const [, found = message, advice] = /^(.*?)\. ([A-Z].*)$/s.exec(message) ?? [];
  const phrase = found.replace(/^[A-Z](?=[a-z]* )/, (letter) => letter.toLowerCase());
  return problem(phrase, advice ?? 'Fix this before you start a server.');
}

function noResult(): Finding {
  return problem(`no result within ${CHECK_TIMEOUT_MS / 1000} s`, 'Check the disk and the network.');
}
