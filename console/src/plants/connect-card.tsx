// Shows how a program stores a plant, and creates a token for it.

import { useMutation } from '@tanstack/preact-query';
import { errorText } from '../session/error-text.ts';
import { useIsOffline, useWorkspace } from '../session/workspace.ts';
import { Code } from '../shared/copy.tsx';
import { Problem } from '../shared/field.tsx';
import { Icon } from '../shared/icon.tsx';
import { useAskBeforeLeaving } from '../shared/use-ask-before-leaving.ts';

export function ConnectCard() {
  const { client, can, queries } = useWorkspace();
  const isOffline = useIsOffline();
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: () => client.tokens.create({ name: 'first app', scopes: ['plants:read', 'plants:write'] }),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['tokens'] }),
  });
  useAskBeforeLeaving(data !== undefined);
  return (
    <section class="choice-card" aria-labelledby="first-connect">
      <h3 id="first-connect">
        <Icon name="code" />
        Connect an app
      </h3>
      <p>Any program can store plants over HTTP. It needs a token of its own.</p>
      <Code text={curl(data?.secret ?? '$TOKEN')} label="curl command" />
      {data ? (
        <p class="help wait" role="status">
          <i class="pulse idle" />
          Waiting for the first plant. Copy the token now: it is shown once.
        </p>
      ) : (
        <div class="card-end">
          <Problem text={error ? errorText(error) : ''} />
          <div class="two-btn">
            {can('admin') && (
              <button type="button" class="btn" disabled={isPending || isOffline} onClick={() => mutate()}>
                <Icon name="key" />
                Create token
              </button>
            )}
            <a class="btn quiet" href="docs">
              <Icon name="book" />
              API reference
            </a>
          </div>
        </div>
      )}
    </section>
  );
}

function curl(token: string): string {
  return `curl ${new URL('plants', new URL('.', location.href))} \\
  -H "Authorization: Bearer ${token}" \\
  --json '{"id":1,"name":"Ficus"}'`;
}
