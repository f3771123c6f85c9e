/**
 * @module The start of the console. It maps paths to pages, and shows the sign-in page or the page of the current
 * address.
 */

import './view/language.ts';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { readClock } from './api/local.ts';
import { readOrganizations } from './api/organizations.ts';
import { readProviders } from './api/providers.ts';
import { isAdmin, may, mayOpen, session } from './api/session.ts';
import { site } from './api/site.ts';
import type { Scope } from './api/types.ts';
import { readNeeds } from './attention/attention.ts';
import { Badge } from './attention/badge.tsx';
import { CustomerPage } from './customers/customer.tsx';
import { CustomersPage } from './customers/customers.tsx';
import { DiscountPage } from './discounts/discount.tsx';
import { DiscountsPage } from './discounts/discounts.tsx';
import { KeyPage } from './keys/key.tsx';
import { KeysPage } from './keys/keys.tsx';
import { LinksPage } from './links/links.tsx';
import { DisputesPage } from './money-back/disputes.tsx';
import { RefundsPage } from './money-back/refunds.tsx';
import { DeliveryPage } from './operations/delivery.tsx';
import { DevelopersPage } from './operations/developers.tsx';
import { HealthPage } from './operations/health.tsx';
import { WebhooksPage } from './operations/webhooks.tsx';
import { OverviewPage } from './overview/overview.tsx';
import { NotFoundPage, NotPermittedPage } from './pages/not-found.tsx';
import { PaymentPage } from './pages/payment.tsx';
import { PaymentsPage } from './pages/payments.tsx';
import { SignInPage } from './pages/sign-in.tsx';
import { SearchField } from './search/search-field.tsx';
import { SearchPage } from './search/search-page.tsx';
import { SubscriptionPage } from './subscriptions/subscription.tsx';
import { SubscriptionsPage } from './subscriptions/subscriptions.tsx';
import { Layout, type NavigationItem } from './view/layout.tsx';
import { go, matchPath, place } from './view/route.tsx';
import './styles.css';

/** A page at a path below /console. Pages with a `name` appear in the navigation in this order. */
interface Page extends Partial<NavigationItem> {
  readonly path: string;
  /** The scope that every user needs, because the page shows the records of all owners. */
  readonly scope?: Scope;
  /** The scope that staff need. Payers need no scope, because they see only their own records. */
  readonly staffScope?: Scope;
  /** True if only platform admins may read the page's data, because no scope allows it. */
  readonly isForAdmins?: true;
  readonly show: (parameters: Readonly<Record<string, string>>) => ReturnType<typeof PaymentsPage>;
}

const PAGES: readonly Page[] = [
  { path: '/overview', name: 'Overview', show: () => <OverviewPage /> },
  { path: '/payments', name: 'Payments', show: () => <PaymentsPage /> },
  { path: '/payments/:id', show: ({ id = '' }) => <PaymentPage id={id} /> },
  {
    path: '/subscriptions',
    name: 'Subscriptions',
    staffScope: 'subscriptions:read',
    show: () => <SubscriptionsPage />,
  },
  { path: '/subscriptions/:id', show: ({ id = '' }) => <SubscriptionPage id={id} /> },
  { path: '/customers', name: 'Customers', staffScope: 'customers:read', show: () => <CustomersPage /> },
  { path: '/customers/:id', staffScope: 'customers:read', show: ({ id = '' }) => <CustomerPage id={id} /> },
  { path: '/refunds', name: 'Refunds', scope: 'payments:read', show: () => <RefundsPage /> },
  { path: '/disputes', name: 'Disputes', scope: 'payments:read', show: () => <DisputesPage /> },
  { path: '/links', name: 'Links', scope: 'links:write', show: () => <LinksPage /> },
  { path: '/discounts', name: 'Discounts', scope: 'catalog:write', show: () => <DiscountsPage /> },
  { path: '/discounts/:id', scope: 'catalog:write', show: ({ id = '' }) => <DiscountPage id={id} /> },
  { path: '/webhooks', name: 'Webhooks', staffScope: 'webhooks:read', show: () => <WebhooksPage /> },
  { path: '/webhooks/:id', staffScope: 'webhooks:read', show: ({ id = '' }) => <DeliveryPage id={id} /> },
  { path: '/health', name: 'Health', scope: 'payments:read', show: () => <HealthPage /> },
  { path: '/keys', name: 'Keys', isForAdmins: true, show: () => <KeysPage /> },
  { path: '/keys/:id', isForAdmins: true, show: ({ id = '' }) => <KeyPage id={id} /> },
  { path: '/developers', name: 'Developers', show: () => <DevelopersPage /> },
  { path: '/search', scope: 'payments:read', show: () => <SearchPage /> },
];

const isOpen = ({ scope, staffScope, isForAdmins }: Page): boolean =>
  (scope === undefined || may(scope)) &&
  (staffScope === undefined || mayOpen(staffScope)) &&
  (isForAdmins === undefined || isAdmin.value);

const navigation = (): readonly NavigationItem[] =>
  PAGES.filter(isOpen).flatMap(({ path, name }) =>
    name === undefined ? [] : [{ path, name, badge: <Badge page={path} /> }],
  );

const pageShown = () => {
  for (const page of PAGES) {
    const parameters = matchPath(page.path, place.value.path);
    if (parameters && isOpen(page)) return page.show(parameters);
    const scope = page.scope ?? page.staffScope;
    if (parameters && scope && may('payments:read')) return <NotPermittedPage scope={scope} />;
  }
  return <NotFoundPage />;
};

const App = () => {
  const isSignedIn = session.value !== undefined;
  const isAtRoot = place.value.path === '/';
  // Pages compare times with the service's clock, so the local host's clock is read first.
  const [isClockRead, setClockRead] = useState(!site.isLocal);
  useEffect(() => {
    void readClock()
      .catch(() => undefined)
      .finally(() => setClockRead(true));
    void readProviders().catch(() => undefined);
  }, []);
  useEffect(() => {
    if (!isSignedIn) return;
    void readOrganizations().catch(() => undefined);
    void readNeeds();
  }, [isSignedIn]);
  useEffect(() => {
    if (isSignedIn && isAtRoot) go(navigation()[0]?.path ?? '/', 'replace');
  }, [isSignedIn, isAtRoot]);
  if (!isSignedIn) {
    return (
      <main id="main">
        <SignInPage />
      </main>
    );
  }
  return (
    <Layout items={navigation()} search={<SearchField />}>
      {isAtRoot || !isClockRead ? null : pageShown()}
    </Layout>
  );
};

const root = document.getElementById('app');
if (root) render(<App />, root);
