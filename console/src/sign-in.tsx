// The sign-in page. It checks the token immediately and keeps it for this tab only.

import { useEffect, useRef, useState } from 'preact/hooks';
import { type Session, signIn } from './session.ts';

export function SignIn({ notice, onSignedIn }: { notice: string[]; onSignedIn(session: Session): void }) {
  const [problem, setProblem] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const [isBusy, setBusy] = useState(false);

  useEffect(() => field.current?.focus(), []); // The attribute autofocus works only once per page load.

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const token = String(new FormData(event.currentTarget as HTMLFormElement).get('token')).trim();
    setBusy(true);
    try {
      onSignedIn(await signIn(token));
    } catch (error) {
      setProblem((error as Error).message);
      setBusy(false);
    }
  }

  return (
    <main class="sign-in">
      <form onSubmit={submit}>
        <h1>
          <Leaf /> Plant Store
        </h1>
        <p>Sign in with a token. This tab keeps it until you close the tab.</p>
        <label>
          Token
          <input
            name="token"
            type="password"
            required
            ref={field}
            autocomplete="off"
            spellcheck={false}
            placeholder="pst_…"
            aria-describedby="sign-in-problem"
          />
        </label>
        <div id="sign-in-problem" class="problem" role="alert">
          {[...notice, problem].filter(Boolean).map((text) => (
            <p key={text}>{text}</p>
          ))}
        </div>
        <button type="submit" class="primary" disabled={isBusy}>
          Sign in
        </button>
        <details>
          <summary>Where do I get a token?</summary>
          <p>On its first start, the server prints a token on its terminal. To create another one, run:</p>
          <pre>plant-store token create --name me --scopes plants:read,plants:write,admin</pre>
          <p>
            From a checkout, run <code>npm run --silent plant-store --</code> instead of <code>plant-store</code>.
          </p>
        </details>
        <p>
          <a href="docs">API reference</a>
        </p>
      </form>
    </main>
  );
}

export function Leaf() {
  return (
    <svg class="leaf" viewBox="0 0 32 32" aria-hidden="true">
      <path d="M27 4C13 4 5 10 5 19c0 2 .5 4 1.5 5.5C9 17 14 13 21 11c-6 4-10.5 9-12.5 16.5l3 .5c.3-1.5.8-2.8 1.3-4 8.2 1.5 15.2-5 14.2-20z" />
    </svg>
  );
}
