// The result of a test message: the receiver's response and how long it took.

import type { TestResult } from 'plant-store/client';
import { Code } from '../shared/copy.tsx';
import { Icon } from '../shared/icon.tsx';
import { number } from '../shared/numbers.ts';
import { reasonText } from './webhook-text.ts';

export type Test = { isRunning: true } | { isRunning: false; result: TestResult };

export function TestReport({ test, onClose }: { test: Test; onClose(): void }) {
  return (
    <div class="test" role="status">
      {test.isRunning ? (
        <div class="callout">
          <Icon name="send" />
          <span>Sending a test message. The receiver has 15 seconds to respond.</span>
        </div>
      ) : (
        <Result result={test.result} onClose={onClose} />
      )}
    </div>
  );
}

function Result({ result, onClose }: { result: TestResult; onClose(): void }) {
  const { delivered, code, answer, error, milliseconds } = result;
  const status = code === undefined ? 'no response' : `status ${code}`;
  return (
    <>
      <div class={delivered ? 'callout' : 'callout bad'}>
        <Icon name={delivered ? 'good' : 'bad'} />
        <span class="grow">
          <b>{delivered ? 'Test delivered' : 'Test not delivered'}:</b> {status} after {number(milliseconds)} ms.
          {!delivered && error && ` ${reasonText(error)}.`}
        </span>
        <button type="button" class="btn icon s quiet" aria-label="Dismiss the result" onClick={onClose}>
          <Icon name="x" />
        </button>
      </div>
      {answer && <Code text={answer} label="response" />}
    </>
  );
}
