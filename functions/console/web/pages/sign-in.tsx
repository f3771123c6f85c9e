import { useEffect, useState } from 'preact/hooks';
import { signIn } from '../api/client.ts';
import { DEMO_USERS } from '../api/local.ts';
import type { Problem } from '../api/problem.ts';
import { endedBecause } from '../api/session.ts';
import { site } from '../api/site.ts';
import { asProblem } from '../view/load.ts';
import { PageHead, ProblemNote } from '../view/parts.tsx';

/** Signs in with a session ID or a token, or by the page that CONSOLE_SIGN_IN_URL names. */
export const SignInPage = () => {
  const [credential, setCredential] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const enter = async (given: string): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await signIn(given);
    } catch (reason) {
      setProblem(asProblem(reason));
      setBusy(false);
    }
  };
  useEffect(() => {
    const returned = credentialInHash();
    if (returned !== '') void enter(returned);
  }, []);
  return (
    <div class="sign-in">
      <PageHead title="Sign in" tab="Sign in" />
      {endedBecause.value !== '' && <p class="note">{endedBecause.value}</p>}
      {problem && <ProblemNote problem={problem} />}
      {site.signInUrl !== '' && (
        <button type="button" class="primary wide" onClick={() => location.assign(signInAddress())}>
          Sign in with your account
        </button>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void enter(credential.trim());
        }}
      >
        <label class="field">
          <span>Session ID or token</span>
          <input
            type="password"
            value={credential}
            autocomplete="off"
            spellcheck={false}
            required
            onInput={(event) => setCredential(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class={site.signInUrl === '' ? 'primary wide' : 'wide'} disabled={isBusy}>
          Sign in
        </button>
      </form>
      {site.isLocal && <DemoUsers isBusy={isBusy} onChoose={(id) => void enter(id)} />}
      <p class="quiet">The console keeps the session in this tab only. Closing the tab signs you out.</p>
    </div>
  );
};

interface DemoUsersProps {
  readonly isBusy: boolean;
  readonly onChoose: (sessionId: string) => void;
}

const DemoUsers = ({ isBusy, onChoose }: DemoUsersProps) => (
  <section class="demo-users" aria-labelledby="demo-users">
    <h2 id="demo-users">Demo users of this local host</h2>
    {DEMO_USERS.map(({ sessionId, about }) => (
      <div key={sessionId} class="demo-user">
        <button
          type="button"
          disabled={isBusy}
          aria-describedby={`about-${sessionId}`}
          onClick={() => onChoose(sessionId)}
        >
          {sessionId}
        </button>
        <span id={`about-${sessionId}`} class="quiet">
          {about}
        </span>
      </div>
    ))}
  </section>
);

/** The sign-in page sends the user back here, with `#session_id=`. */
const signInAddress = (): string => {
  const address = new URL(site.signInUrl);
  address.searchParams.set('return_to', `${location.origin}${location.pathname}${location.search}`);
  return address.href;
};

/** Taken out of the address bar at once, so that no one copies it with the address. */
const credentialInHash = (): string => {
  const credential = new URLSearchParams(location.hash.slice(1)).get('session_id') ?? '';
  if (credential !== '') history.replaceState(null, '', location.pathname + location.search);
  return credential;
};
