// The secret of a new or rotated token, with a command to try it.

import type { TokenWithSecret } from 'plant-store/client';
import { useState } from 'preact/hooks';
import { useTokens } from '../session/queries.ts';
import { Code } from '../shared/copy.tsx';
import { Segments } from '../shared/field.tsx';
import { inSentence } from '../shared/in-sentence.ts';
import { SecretDialog } from '../shared/secret.tsx';
import { longTime, Time } from '../shared/time.tsx';
import { ScopeBadges } from './scopes.tsx';
import { rateText } from './token-text.ts';

export function TokenSecret({ token, isNew, onClose }: { token: TokenWithSecret; isNew: boolean; onClose(): void }) {
  const { name, scopes, expires, rate, rotating, secret } = token;
  return (
    <SecretDialog
      title={isNew ? `Token created: ${inSentence(name)}` : `New secret of ${inSentence(name)}`}
      of={`the token ${inSentence(name)}`}
      secret={secret}
      warning="It is shown once: the server keeps only a hash, and cannot show it again."
      foot={isNew && <FirstUse id={token.id} />}
      onClose={onClose}
    >
      <dl class="inline-facts">
        <div>
          <dt>Can</dt>
          <dd class="k-scopes">
            <ScopeBadges of={scopes} />
          </dd>
        </div>
        <div>
          <dt>Expires</dt>
          <dd>{expires ? longTime(new Date(expires)) : 'Never'}</dd>
        </div>
        <div>
          <dt>Rate limit</dt>
          <dd>{rateText(rate)}</dd>
        </div>
        {rotating && (
          <div>
            <dt>Old secret works until</dt>
            <dd>
              <Time at={rotating} isLong />
            </dd>
          </div>
        )}
      </dl>
      <TryIt token={token} />
    </SecretDialog>
  );
}

function TryIt({ token }: { token: TokenWithSecret }) {
  const [language, setLanguage] = useState<'curl' | 'TypeScript'>('curl');
  return (
    <section class="sec flush" aria-label="Try it">
      <div class="sec-head">
        <h3>Try it</h3>
        <Segments<'curl' | 'TypeScript'>
          label="Language"
          class="s"
          value={language}
          options={[
            { value: 'curl', content: 'curl' },
            { value: 'TypeScript', content: 'TypeScript' },
          ]}
          onChange={setLanguage}
        />
      </div>
      {language === 'curl' ? (
        <Code text={curlOf(token)} label="curl command" />
      ) : (
        <Code text={typeScript()} label="TypeScript" />
      )}
    </section>
  );
}

/** Says when the first request arrived. */
function FirstUse({ id }: { id: string }) {
  const { data } = useTokens();
  const isUsed = data?.find((token) => token.id === id)?.lastUsed !== undefined;
  return (
    <span class="help wait" role="status">
      <i class={isUsed ? 'pulse' : 'pulse idle'} />
      {isUsed ? 'Its first request arrived' : 'Waiting for its first request'}
    </span>
  );
}

function curlOf({ scopes, secret }: TokenWithSecret): string {
  const path = scopes.includes('plants:read') ? 'plants?limit=5' : 'tokens/self';
  return `curl "${new URL(path, address())}" \\\n  -H "Authorization: Bearer ${secret}"`;
}

function typeScript(): string {
  return `import { createClient } from 'plant-store/client';

const store = createClient({
  url: '${address()}',
  token: process.env.PLANT_STORE_TOKEN,
});`;
}

function address(): string {
  return new URL('.', location.href.split('#')[0]).href;
}
