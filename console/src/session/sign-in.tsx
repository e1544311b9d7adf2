// The sign-in page. It checks the token immediately and keeps it for this tab only.

import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Code } from '../shared/copy.tsx';
import { Fern } from '../shared/fern.tsx';
import { Icon } from '../shared/icon.tsx';
import { errorText } from './error-text.ts';
import { type Session, signIn } from './session.ts';

/** Length of a token of this server. Tokens of an identity provider have any length. */
const TOKEN_CHARS = 40;

const COMMAND = `plant-store token create --name me \\
  --scopes all --database`;

export function SignIn({ notice, onSignedIn }: { notice: string[]; onSignedIn(session: Session): void }) {
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);

  useEffect(() => field.current?.focus(), []); // The attribute autofocus works only once per page load.

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const token = (field.current?.value ?? '').trim();
    const fault = faultOf(token);
    setProblem(fault);
    if (fault) return field.current?.focus();
    setBusy(true);
    try {
      onSignedIn(await signIn(token));
    } catch (error) {
      setProblem(errorText(error));
      setBusy(false);
      field.current?.focus();
    }
  }

  return (
    <main class="signin">
      <div class="plate" aria-hidden="true">
        <Fern pairs={19} class="f1" />
        <Fern pairs={17} bend="left" class="f2" />
        <p>
          Every plant,
          <br />
          exact to the last digit.
        </p>
      </div>
      <div class="signin-side">
        <form class="signin-form" noValidate onSubmit={submit}>
          <h1>
            <Icon name="leaf" />
            Plant Store
          </h1>
          <p class="lead">Sign in with a token. It stays in this tab and is forgotten when you close it.</p>
          {notice.length > 0 && (
            <div class="callout warn" role="alert">
              <Icon name="alert" />
              <div>
                {notice.map((text) => (
                  <p key={text}>{text}</p>
                ))}
              </div>
            </div>
          )}
          <TokenField input={field} problem={problem} />
          <button type="submit" class="btn primary block tall" disabled={isBusy}>
            Sign in
          </button>
          <Help />
        </form>
        <p class="signin-foot">
          <a href="docs">API reference</a>
        </p>
      </div>
    </main>
  );
}

function TokenField({ input, problem }: { input: { current: HTMLInputElement | null }; problem: string }) {
  const [isShown, setShown] = useState(false);
  const id = useId();
  const label = isShown ? 'Hide characters' : 'Show characters';
  return (
    <div class={problem ? 'field bad' : 'field'}>
      <label for={id}>Token</label>
      <div class="with-eye">
        <input
          id={id}
          ref={input}
          class="input mono"
          name="token"
          {...(isShown ? { type: 'text' as const } : { type: 'password' as const })}
          placeholder="pst_…"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          required
          aria-invalid={problem ? true : undefined}
          aria-describedby={problem ? `${id}-problem` : undefined}
        />
        <button
          type="button"
          class="btn icon s quiet"
          aria-label={label}
          title={label}
          onClick={() => setShown(!isShown)}
        >
          <Icon name="eye" />
        </button>
      </div>
      {problem && (
        <p class="err" id={`${id}-problem`} role="alert">
          <Icon name="bad" />
          <span>{problem}</span>
        </p>
      )}
    </div>
  );
}

function Help() {
  return (
    <details class="help-box">
      <summary>
        <Icon name="chevR" />
        Where do I get a token?
      </summary>
      <div class="help-in">
        <p>
          <b>First start.</b> The server shows a token on its terminal.
        </p>
        <p>
          <b>Later.</b> Ask the person who runs the server, or create one there:
        </p>
        <Code text={COMMAND} label="command" />
        <p class="help">
          In a checkout, the command is <code>bin/plant-store</code>.
        </p>
      </div>
    </details>
  );
}

/** Returns what is wrong with a token that the server would certainly reject. */
function faultOf(token: string): string {
  if (token === '') return 'Enter a token.';
  const isOurs = token.startsWith('pst_');
  if (isOurs && token.length !== TOKEN_CHARS) {
    return `A token has ${TOKEN_CHARS} characters, and this one has ${token.length}. Copy it again.`;
  }
  const form = isOurs ? /^\w+$/ : /^[\x21-\x7e]+$/;
  return form.test(token) ? '' : 'This token has a character that no token has. Copy it again.';
}
