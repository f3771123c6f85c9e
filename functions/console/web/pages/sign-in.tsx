/** @module The sign-in page. The user signs in with a session ID, with a token, or through CONSOLE_SIGN_IN_URL. */

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { signIn } from '../api/client.ts';
import { DEMO_USERS } from '../api/local.ts';
import { finishSignIn, startSignIn } from '../api/oidc.ts';
import type { Problem } from '../api/problem.ts';
import { endedBecause } from '../api/session.ts';
import { openSignInPage, takeReturnedSession } from '../api/sign-in-return.ts';
import { site } from '../api/site.ts';
import { asProblem } from '../view/load.ts';
import { PageHead, ProblemNote } from '../view/parts.tsx';
import { go } from '../view/route.tsx';

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
  const start = (): void => {
    setBusy(true);
    startSignIn().catch((reason: unknown) => {
      setProblem(asProblem(reason));
      setBusy(false);
    });
  };
  const finish = async (): Promise<void> => {
    try {
      const signedIn = await finishSignIn();
      if (!signedIn) return;
      setBusy(true);
      reopen(signedIn.page);
      await signIn(signedIn.credential, true);
    } catch (reason) {
      setProblem(asProblem(reason));
      setBusy(false);
    }
  };
  useEffect(() => {
    const returned = takeReturnedSession();
    if (returned !== '') void enter(returned);
    else void finish();
  }, []);
  return (
    <div class="sign-in">
      <PageHead title="Sign in" tab="Sign in" />
      {endedBecause.value !== '' && <p class="note">{endedBecause.value}</p>}
      {problem && <ProblemNote problem={problem} />}
      {site.signInUrl !== '' && (
        <button type="button" class="primary wide" onClick={openSignInPage}>
          Sign in with your account
        </button>
      )}
      {site.oidcIssuer !== '' && (
        <button type="button" class="primary wide" disabled={isBusy} onClick={start}>
          Continue with your account
        </button>
      )}
      <OtherWays>
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
          <button
            type="submit"
            class={site.signInUrl === '' && site.oidcIssuer === '' ? 'primary wide' : 'wide'}
            disabled={isBusy}
          >
            Sign in
          </button>
        </form>
        {site.isLocal && <DemoUsers isBusy={isBusy} onChoose={(id) => void enter(id)} />}
      </OtherWays>
      <p class="quiet">The console keeps the session in this tab only. Closing the tab signs you out.</p>
    </div>
  );
};

/** Opens the page requested before the sign-in. */
const reopen = (page: string): void => {
  if (page.startsWith(`${site.root}/`)) go(page.slice(site.root.length), 'replace');
};

/**
 * The other ways to sign in. They are folded if there is an OpenID Connect sign-in, but not on the local host, whose
 * demo users they contain.
 */
const OtherWays = ({ children }: { readonly children: ComponentChildren }) =>
  site.oidcIssuer === '' ? (
    children
  ) : (
    <details open={site.isLocal}>
      <summary>Other ways</summary>
      {children}
    </details>
  );

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
