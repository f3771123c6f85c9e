import type { Oracle } from '../model/history.ts';
import {
  failureStays,
  notDoneLeavesNothing,
  oneAttemptAtOnce,
  oneIntent,
  payersHaveADay,
  successStays,
  unsentIsReleased,
} from './attempts.ts';
import {
  adminsPermitted,
  changesPermitted,
  membersPermitted,
  namedPermitted,
  ownersFit,
  ownPermitted,
  sendersPermitted,
} from './changes.ts';
import { creditWasPaid } from './credits.ts';
import { onlyPayersRefused, othersDecide } from './deciders.ts';
import { codesCutExactly, codesEnd, usesCounted, usesLimited } from './discounts.ts';
import { disputedRefundsAsked, disputeFieldsAgree, lastWordAnnounced, lossesAgree, lostStaysLost } from './disputes.ts';
import { dunningDays, dunningEnds, dunningHappens, hardDeclinesStop } from './dunning.ts';
import { nothingAfterCancel, nothingAfterDeletion, nothingAfterErasure, nothingWhilePaused } from './endings.ts';
import { deliveriesKeepTheirId, eventsDelivered, eventsOnce, oneBodyPerId, storedOnce } from './events.ts';
import {
  capturedWithinHold,
  capturesAgree,
  endedOnce,
  holdsAgree,
  holdsEnd,
  merchantEndsHolds,
  readBeforeDropped,
  releasedTakesNothing,
  remindedOnce,
  takesWhatIsAsked,
} from './holds.ts';
import { lenderChooses } from './lenders.ts';
import { declinesLimited, limitedByOwnRequests } from './limits.ts';
import {
  createsAreThere,
  listsAgree,
  noInternalErrors,
  oneDefault,
  sameKeySameRecord,
  totalsCoverPages,
} from './lists.ts';
import { cardsAgree, customersAgree } from './mirrors.ts';
import {
  amountsAgree,
  chargedOnce,
  intentsAgree,
  periodPaidOnce,
  refundsAgree,
  refundsWithinCharge,
  sumsAgree,
} from './money.ts';
import { nativeFieldsAgree, nothingOwedAfterEnd, renewedOnce } from './native.ts';
import { noticedAmounts, noticedOnce, renewalsNoticed } from './notices.ts';
import {
  appliedIsAsked,
  appliedIsPaid,
  merchantSetsPrices,
  paidIsApplied,
  previewIsCharge,
  scheduledOnce,
  waitsWithinPeriod,
} from './plans.ts';
import {
  defaultKept,
  erasedIsNameless,
  nothingAfterScheduledEnd,
  periodsFit,
  refundsFit,
  syncFinds,
  syncShows,
} from './promises.ts';
import { changesPublished, eventAmounts, eventsInOrder, moneyBackPublished } from './publications.ts';
import { answersPermitted } from './reads.ts';
import { erasedEventsAreNameless, erasedIsGone, nothingLeftAtProvider, organizationsGone } from './removal.ts';
import { rightsHeldAtClaims } from './removed.ts';
import { chargedOnRequest, claimsPermitted, leakedKeysRefused, methodsPermitted } from './rights.ts';
import { clientSecretsStay, noSecrets, noSecretsInAnswers } from './secrets.ts';
import {
  activeIsPaid,
  canceledThereToo,
  chargesKnown,
  disputesAgree,
  historyIsWhole,
  membershipIfPaid,
  methodsAttached,
  nativeMethodsAgree,
  nativeStatusesAgree,
  nothingWaits,
  queuesEmpty,
  statusesAgree,
} from './states.ts';
import { storedAsDeclared } from './stored.ts';
import { continuedOpensOne, idsNotComputed, strangersRefused } from './strangers.ts';
import { tierHasItsMoney, trialIsOfProduct } from './tiers.ts';
import { nothingGivenUp } from './work.ts';

/**
 * Every invariant. To add an invariant, export an `Oracle` from a file of this folder, add its row here, and add a test
 * in which the invariant fails.
 */
export const ORACLES: readonly Oracle[] = [
  chargedOnce,
  periodPaidOnce,
  amountsAgree,
  intentsAgree,
  refundsWithinCharge,
  refundsAgree,
  sumsAgree,
  capturedWithinHold,
  endedOnce,
  takesWhatIsAsked,
  releasedTakesNothing,
  capturesAgree,
  holdsAgree,
  holdsEnd,
  remindedOnce,
  merchantEndsHolds,
  readBeforeDropped,
  othersDecide,
  onlyPayersRefused,
  lenderChooses,
  strangersRefused,
  continuedOpensOne,
  idsNotComputed,
  paidIsApplied,
  appliedIsPaid,
  appliedIsAsked,
  previewIsCharge,
  scheduledOnce,
  waitsWithinPeriod,
  merchantSetsPrices,
  creditWasPaid,
  statusesAgree,
  chargesKnown,
  nothingWaits,
  queuesEmpty,
  nothingGivenUp,
  membershipIfPaid,
  tierHasItsMoney,
  trialIsOfProduct,
  activeIsPaid,
  nativeStatusesAgree,
  nativeMethodsAgree,
  nativeFieldsAgree,
  renewedOnce,
  nothingOwedAfterEnd,
  canceledThereToo,
  disputesAgree,
  lossesAgree,
  disputeFieldsAgree,
  lastWordAnnounced,
  disputedRefundsAsked,
  lostStaysLost,
  methodsAttached,
  customersAgree,
  cardsAgree,
  dunningDays,
  dunningHappens,
  dunningEnds,
  hardDeclinesStop,
  historyIsWhole,
  oneBodyPerId,
  eventsOnce,
  changesPublished,
  moneyBackPublished,
  eventAmounts,
  eventsInOrder,
  eventsDelivered,
  deliveriesKeepTheirId,
  storedOnce,
  storedAsDeclared,
  answersPermitted,
  methodsPermitted,
  claimsPermitted,
  leakedKeysRefused,
  rightsHeldAtClaims,
  declinesLimited,
  limitedByOwnRequests,
  chargedOnRequest,
  changesPermitted,
  membersPermitted,
  ownPermitted,
  adminsPermitted,
  sendersPermitted,
  namedPermitted,
  ownersFit,
  nothingAfterCancel,
  nothingWhilePaused,
  nothingAfterDeletion,
  nothingAfterErasure,
  nothingLeftAtProvider,
  organizationsGone,
  erasedIsGone,
  erasedEventsAreNameless,
  createsAreThere,
  noInternalErrors,
  sameKeySameRecord,
  listsAgree,
  totalsCoverPages,
  oneDefault,
  noSecrets,
  noSecretsInAnswers,
  clientSecretsStay,
  oneIntent,
  oneAttemptAtOnce,
  successStays,
  failureStays,
  payersHaveADay,
  notDoneLeavesNothing,
  unsentIsReleased,
  syncFinds,
  syncShows,
  refundsFit,
  defaultKept,
  erasedIsNameless,
  nothingAfterScheduledEnd,
  periodsFit,
  usesCounted,
  usesLimited,
  codesCutExactly,
  codesEnd,
  noticedOnce,
  noticedAmounts,
  renewalsNoticed,
];
