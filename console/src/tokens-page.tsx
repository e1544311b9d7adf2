// The page for listing, creating and revoking tokens.

import type { DescribedToken } from 'plant-store/client';
import { useState } from 'preact/hooks';
import { Confirm, SecretDialog } from './dialog.tsx';
import { NewTokenDialog } from './new-token-dialog.tsx';
import { Scrolling } from './scrolling.tsx';
import { Problem, Time } from './show.tsx';
import { useToasts } from './toasts.tsx';
import { useLoaded } from './use-loaded.ts';
import { endsSession, useWorkspace } from './workspace.ts';

type Open =
  | { kind: 'new' }
  | { kind: 'secret'; name: string; secret: string }
  | { kind: 'revoke'; token: DescribedToken };

export function TokensPage() {
  const workspace = useWorkspace();
  const { client, self } = workspace;
  const tell = useToasts();
  const { value: tokens, problem, reload } = useLoaded(() => client.tokens.list());
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);

  async function revoke(token: DescribedToken): Promise<void> {
    close();
    try {
      await client.tokens.revoke(token.id);
      tell(`Revoked ${token.name}. Every node rejects it within a second.`);
    } catch (error) {
      if (!endsSession(error, workspace)) tell((error as Error).message, { isProblem: true });
    }
    reload();
  }

  return (
    <section class="page" aria-labelledby="tokens-title">
      <div class="toolbar">
        <h1 id="tokens-title">Tokens</h1>
        <button type="button" class="primary" onClick={() => setOpen({ kind: 'new' })}>
          Create token
        </button>
      </div>
      <Problem text={problem} />
      <Scrolling class="wide-table" label="Table of tokens">
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Scopes</th>
              <th scope="col">Rate limit</th>
              <th scope="col">Last used</th>
              <th scope="col">Expires</th>
              <th scope="col">Status</th>
              <th scope="col">
                <span class="unseen">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {tokens?.map((token) => (
              <tr key={token.id}>
                <td>
                  {token.name} {token.id === self.id && <span class="faint">(you)</span>}
                  <br />
                  <span class="id faint">{token.id}</span>
                </td>
                <td>{token.scopes.join(', ')}</td>
                <td>{token.rate ?? <span class="faint">No limit</span>}</td>
                <td>
                  <Time at={token.lastUsed} />
                </td>
                <td>
                  <Time at={token.expires} />
                </td>
                <td>
                  <span class={`state ${token.status}`}>{token.status}</span>
                </td>
                <td class="actions">
                  {token.status === 'active' && (
                    <button
                      type="button"
                      aria-label={`Revoke ${token.name}`}
                      onClick={() => setOpen({ kind: 'revoke', token })}
                    >
                      Revoke
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolling>
      {open?.kind === 'new' && (
        <NewTokenDialog
          onClose={close}
          onMade={({ name, secret }) => {
            setOpen({ kind: 'secret', name, secret });
            reload();
          }}
        />
      )}
      {open?.kind === 'secret' && (
        <SecretDialog
          title={`Token created: ${open.name}`}
          secret={open.secret}
          hint="Copy it now. The server stores only a hash and cannot show this token again."
          onClose={close}
        />
      )}
      {open?.kind === 'revoke' && (
        <Confirm
          title={`Revoke ${open.token.name}?`}
          text={
            open.token.id === self.id
              ? 'You are signed in with this token, so you will be signed out. This cannot be undone.'
              : 'This token stops working on every node within a second. This cannot be undone.'
          }
          action="Revoke token"
          onConfirm={() => void revoke(open.token)}
          onClose={close}
        />
      )}
    </section>
  );
}
