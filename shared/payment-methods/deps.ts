import type { GuestTokens } from '../access/guest-token.ts';
import type { ProviderRecordDeps } from '../customers/deps.ts';

export interface MethodDeps extends ProviderRecordDeps {
  readonly guestTokens: GuestTokens;
  /** Raw card data is taken (development only). */
  readonly allowRawCards: boolean;
}
