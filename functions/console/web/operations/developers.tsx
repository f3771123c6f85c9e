/**
 * @module The page with keys and documents for developers. On the local host it also has the clock and the test
 * methods.
 */

import { useState } from 'preact/hooks';
import { answerOf, api } from '../api/client.ts';
import { advanceClock, clockOffsetMs, serviceNow, settle } from '../api/local.ts';
import { may } from '../api/session.ts';
import { site } from '../api/site.ts';
import type { ProviderConfig } from '../api/types.ts';
import { useAction } from '../view/action.ts';
import { duration } from '../view/format.ts';
import { useLoaded } from '../view/load.ts';
import { Done, Fact, Id, Loading, PageHead, ProblemNote, Time } from '../view/parts.tsx';

export const DevelopersPage = () => (
  <>
    <PageHead title="Developers" tab="Developers" />
    <Documents />
    {site.isLocal && <LocalHost />}
    <Providers />
    {site.isLocal && <TestMethods />}
    {may('payments:read') && <Checks />}
  </>
);

const Documents = () => (
  <section class="card" aria-label="Documents">
    <h2>Documents</h2>
    <ul class="plain-list">
      {site.isLocal && (
        <li>
          <a href={`${site.basePath}/docs`}>API reference</a>, with every route and Try it out
        </li>
      )}
      <li>
        <a href={`${site.basePath}/openapi.json`}>API document</a> (OpenAPI 3.1)
      </li>
      {site.isLocal && (
        <li>
          The local host: “Five minutes” in <code>README.md</code>, and <code>docs/local.md</code> for its control
          routes and the simulator of the providers
        </li>
      )}
    </ul>
  </section>
);

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

const STEPS = [
  { seconds: HOUR_SECONDS, text: '1 hour' },
  { seconds: DAY_SECONDS, text: '1 day' },
  { seconds: 7 * DAY_SECONDS, text: '7 days' },
  { seconds: 32 * DAY_SECONDS, text: '32 days' },
] as const;

const LocalHost = () => {
  const [seconds, setSeconds] = useState<number>(DAY_SECONDS);
  const advancing = useAction(() => advanceClock(seconds));
  const [isSettled, setSettled] = useState(false);
  const settling = useAction(async () => {
    setSettled(false);
    await settle();
    setSettled(true);
  });
  const offset = clockOffsetMs.value;
  return (
    <section class="card" aria-label="Local host">
      <h2>Local host</h2>
      <dl class="facts">
        <Fact name="Clock">
          <Time at={new Date(serviceNow()).toISOString()} zoned={true} />
          {offset !== 0 && <span class="quiet"> ({duration(offset)} ahead)</span>}
        </Fact>
      </dl>
      <p class="quiet">
        The clock moves service, queues and simulated providers together, and runs all work that falls due. It only goes
        forward; <code>npm start -- --fresh</code> starts with an empty data folder.
      </p>
      <div class="controls">
        <label class="field">
          <span>Advance by</span>
          <select value={seconds} onChange={({ currentTarget }) => setSeconds(Number(currentTarget.value))}>
            {STEPS.map((step) => (
              <option key={step.seconds} value={step.seconds} selected={step.seconds === seconds}>
                {step.text}
              </option>
            ))}
          </select>
        </label>
        <button type="button" class="primary" disabled={advancing.isBusy} onClick={advancing.run}>
          {advancing.isBusy ? 'Advancing…' : 'Advance clock'}
        </button>
        <button
          type="button"
          disabled={settling.isBusy}
          onClick={settling.run}
          title="Waits until events, queues and deliveries are quiet"
        >
          {settling.isBusy ? 'Settling…' : 'Settle'}
        </button>
      </div>
      {advancing.problem && <ProblemNote problem={advancing.problem} />}
      {settling.problem && <ProblemNote problem={settling.problem} />}
      {isSettled && <Done>All events, queues and deliveries are quiet.</Done>}
    </section>
  );
};

const VENDORS: Readonly<Record<ProviderConfig['provider'], string>> = {
  stripe: 'Stripe',
  paypal: 'PayPal',
  square: 'Square',
  braintree: 'Braintree',
};

const CONFIRMS_IN: Readonly<Record<ProviderConfig['confirms_in'], string>> = {
  browser: 'in the browser, with the client secret',
  redirect: 'at the provider’s page, after a redirect',
  server: 'through the API, with a token of the browser',
};

const Providers = () => {
  const { data, problem, isLoading, reload } = useLoaded(
    'config',
    async () => (await answerOf(api.GET('/config'))).data.data,
  );
  return (
    <section class="part" aria-label="Publishable keys">
      <h2>Publishable keys</h2>
      <p class="quiet">
        From <a href={`${site.basePath}/config`}>/config</a>, for pages that take payments. None of them is secret.
      </p>
      {problem && <ProblemNote problem={problem} onRetry={reload} />}
      {!data && isLoading && <Loading what="the configuration" lines={6} />}
      {data?.providers.length === 0 && (
        <div class="empty">
          <strong>No provider takes payments</strong>
          <p>The operator sets the keys of a provider: PROVIDER_A_ADAPTER and its credentials.</p>
        </div>
      )}
      <div class="columns keys">
        {data?.providers.map((provider) => (
          <ProviderCard
            key={provider.provider_id}
            provider={provider}
            isDefault={provider.provider_id === data.default_provider}
          />
        ))}
      </div>
    </section>
  );
};

interface ProviderCardProps {
  readonly provider: ProviderConfig;
  readonly isDefault: boolean;
}

const ProviderCard = ({ provider, isDefault }: ProviderCardProps) => {
  const keys: readonly (readonly [string, string | undefined])[] = [
    ['Publishable key', provider.publishable_key],
    ['Client ID', provider.client_id],
    ['Application ID', provider.application_id],
    ['Location ID', provider.location_id],
  ];
  return (
    <section class="card" aria-label={VENDORS[provider.provider]}>
      <div class="card-head">
        <h3>
          {VENDORS[provider.provider]} <code>{provider.provider_id}</code>
        </h3>
        <span class="statuses">
          {isDefault && <span class="status">Default</span>}
          {provider.test && <span class="status status-wait">Test</span>}
        </span>
      </div>
      <dl class="facts">
        {keys.map(([name, key]) =>
          key === undefined ? null : (
            <Fact key={name} name={name}>
              <Id>{key}</Id>
            </Fact>
          ),
        )}
        <Fact name="Payers confirm">{CONFIRMS_IN[provider.confirms_in]}</Fact>
        <Fact name="Saves methods">{provider.saves_methods ? 'Yes' : 'No'}</Fact>
        <Fact name="Captures later">{provider.captures_later ? 'Yes' : 'No'}</Fact>
      </dl>
    </section>
  );
};

/** Test methods of the provider simulator, from docs/local.md. */
const METHODS: readonly (readonly [behaviour: string, stripe: string, paypal: string, square: string])[] = [
  ['Pays', 'pm_card_visa', 'SIM-OK', 'cnon:card-nonce-ok'],
  ['Is declined', 'pm_card_visa_chargeDeclined', 'SIM-DECLINED', 'cnon:card-nonce-declined'],
  ['Lacks funds', 'pm_card_visa_chargeDeclinedInsufficientFunds', 'SIM-NSF', ''],
  ['Requires 3-D Secure', 'pm_card_authenticationRequired', 'SIM-CARD-3DS', 'cnon:card-nonce-requires-verification'],
  ['Is saved, and declined at every charge', 'pm_card_chargeCustomerFail', 'SIM-FAIL-LATER', 'cnon:sim-fail-on-charge'],
  ['Settles after 60 s', 'pm_sim_processing_ok', 'SIM-PENDING-OK', 'bnon:bank-nonce-ok'],
  [
    'Can be held, and is declined at the capture',
    'pm_sim_capture_declined',
    'SIM-CAPTURE-DECLINED',
    'cnon:sim-capture-declined',
  ],
  ['Is held for one hour', 'pm_sim_hold_1h', 'SIM-HOLD-1H', 'cnon:sim-hold-1h'],
  ['Is disputed immediately', 'pm_card_createDispute', '', 'cnon:sim-dispute'],
  ['Loses the response after the charge', 'pm_sim_timeout_after', 'SIM-TIMEOUT-AFTER', 'cnon:sim-timeout-after'],
];

const TestMethods = () => (
  <section class="part" aria-label="Test methods">
    <h2>Test methods</h2>
    <p class="quiet">
      Send a test method as <code>payment_method_id</code> of a payment, or as{' '}
      <code>provider_payment_method_token</code> to save it.
    </p>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the block scrolls, and keys scroll what has the focus */}
    <section class="table-box" tabIndex={0} aria-label="Table of test methods">
      <table>
        <thead>
          <tr>
            <th scope="col">Behaviour</th>
            <th scope="col">Stripe</th>
            <th scope="col">PayPal</th>
            <th scope="col">Square</th>
          </tr>
        </thead>
        <tbody>
          {METHODS.map(([behaviour, ...methods]) => (
            <tr key={behaviour}>
              <th scope="row">{behaviour}</th>
              {methods.map((method, index) => (
                <td key={METHODS[0]?.[index + 1]}>{method === '' ? '–' : <code>{method}</code>}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  </section>
);

/** The payctl commands for checks and repairs that the API does not offer. */
const CHECKS: readonly (readonly [what: string, command: string])[] = [
  ['Settings, queues, clock, keys of the providers, and creations that did not finish', 'payctl doctor'],
  ['Payments that differ from their provider', 'payctl drift'],
  ['One payment, compared with its provider', 'payctl reconcile'],
  ['Deliveries that exhausted their retries, and sending them again', 'payctl dlq'],
  ['Changes that a reader of the table’s stream gave up on', 'payctl failures list'],
];

const Checks = () => (
  <section class="card" aria-label="Checks by an engineer">
    <h2>Checks by an engineer</h2>
    <p class="quiet">The console cannot make these checks. Ask an engineer to run payctl.</p>
    <dl class="facts checks">
      {CHECKS.map(([what, command]) => (
        <Fact key={command} name={what}>
          <code>{command}</code>
        </Fact>
      ))}
    </dl>
  </section>
);
