// The message of a delivery: the request as it was sent, and the receiver's response.

import type { DeliveryDetail } from 'plant-store/client';
import { useState } from 'preact/hooks';
import { Code } from '../shared/copy.tsx';
import { Segments } from '../shared/field.tsx';
import { indentJson } from './json-text.ts';
import { reasonText } from './webhook-text.ts';

type Side = 'request' | 'response';
type Form = 'readable' | 'exact';

export function DeliveryMessage({ url, delivery }: { url: string; delivery: DeliveryDetail }) {
  const [side, setSide] = useState<Side>('request');
  return (
    <section class="dv-r" aria-label="Message">
      <div class="sec-head">
        <h3>Message</h3>
        <Segments<Side>
          label="Message"
          class="s"
          value={side}
          options={[
            { value: 'request', content: 'Request' },
            { value: 'response', content: 'Response' },
          ]}
          onChange={setSide}
        />
      </div>
      {side === 'request' ? <Sent url={url} request={delivery.request} /> : <Received delivery={delivery} />}
    </section>
  );
}

function Sent({ url, request }: { url: string; request: DeliveryDetail['request'] }) {
  const [form, setForm] = useState<Form>('readable');
  if (!request) return <p class="sub">Not sent yet, or no longer kept.</p>;
  return (
    <>
      <p class="req">
        <b>POST</b> {url}
      </p>
      <dl class="hdrs">
        {Object.entries(request.headers).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div class="sec-head">
        <span class="sub">Body</span>
        <Segments<Form>
          label="Body"
          class="s"
          value={form}
          options={[
            { value: 'readable', content: 'Readable' },
            { value: 'exact', content: 'Exact' },
          ]}
          onChange={setForm}
        />
      </div>
      <Code text={form === 'exact' ? request.body : indentJson(request.body)} label="request body" />
      {form === 'exact' && <p class="help">The signature covers exactly these bytes.</p>}
    </>
  );
}

/** The response to the newest attempt. */
function Received({ delivery: { history } }: { delivery: DeliveryDetail }) {
  const [newest] = history;
  if (!newest) return <p class="sub">Not sent yet, or no longer kept.</p>;
  return (
    <>
      <p class="req">
        <b>{newest.code === undefined ? 'No response' : `Status ${newest.code}`}</b>{' '}
        <span class="sub">{newest.error === undefined ? 'Accepted' : reasonText(newest.error)}, newest attempt</span>
      </p>
      {newest.answer ? (
        <>
          <Code text={indentJson(newest.answer)} label="response body" />
          <p class="help">The server keeps the first 1 KiB of a response.</p>
        </>
      ) : (
        <p class="help">{newest.code !== undefined && 'The response had no body.'}</p>
      )}
    </>
  );
}
