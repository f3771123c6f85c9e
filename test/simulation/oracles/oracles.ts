import type { Oracle } from '../model/history.ts';
import {
  failureStays,
  notDoneLeavesNothing,
  oneAttemptAtOnce,
  oneIntent,
  successStays,
  unsentIsReleased,
} from './attempts.ts';
import { adminsPermitted, changesPermitted, membersPermitted, namedPermitted, ownPermitted } from './changes.ts';
import { deliveriesKeepTheirId, eventAmounts, eventsDelivered, eventsOnce, oneBodyPerId } from './events.ts';
import { createsAreThere, listsAgree, noInternalErrors, oneDefault, sameKeySameRecord } from './lists.ts';
import {
  amountsAgree,
  chargedOnce,
  intentsAgree,
  periodPaidOnce,
  refundsAgree,
  refundsWithinCharge,
  sumsAgree,
} from './money.ts';
import {
  defaultKept,
  erasedIsNameless,
  nothingAfterScheduledEnd,
  periodsFit,
  refundsFit,
  syncFinds,
} from './promises.ts';
import { answersPermitted } from './reads.ts';
import { erasedIsGone, nothingAfterCancel, nothingLeftAtProvider, organizationsGone } from './removal.ts';
import { claimsPermitted, methodsPermitted } from './rights.ts';
import { clientSecretsStay, noSecrets, noSecretsInAnswers } from './secrets.ts';
import {
  activeIsPaid,
  chargesKnown,
  dunningDays,
  historyIsWhole,
  membershipIfPaid,
  nativeStatusesAgree,
  nothingWaits,
  queuesEmpty,
  statusesAgree,
} from './states.ts';

/** Every sentence. To add one: export an `Oracle` from a file of this folder, its row here, and a test that it can fail. */
export const ORACLES: readonly Oracle[] = [
  chargedOnce,
  periodPaidOnce,
  amountsAgree,
  intentsAgree,
  refundsWithinCharge,
  refundsAgree,
  sumsAgree,
  statusesAgree,
  chargesKnown,
  nothingWaits,
  queuesEmpty,
  membershipIfPaid,
  activeIsPaid,
  nativeStatusesAgree,
  dunningDays,
  historyIsWhole,
  oneBodyPerId,
  eventsOnce,
  eventAmounts,
  eventsDelivered,
  deliveriesKeepTheirId,
  answersPermitted,
  methodsPermitted,
  claimsPermitted,
  changesPermitted,
  membersPermitted,
  ownPermitted,
  adminsPermitted,
  namedPermitted,
  nothingAfterCancel,
  nothingLeftAtProvider,
  organizationsGone,
  erasedIsGone,
  createsAreThere,
  noInternalErrors,
  sameKeySameRecord,
  listsAgree,
  oneDefault,
  noSecrets,
  noSecretsInAnswers,
  clientSecretsStay,
  oneIntent,
  oneAttemptAtOnce,
  successStays,
  failureStays,
  notDoneLeavesNothing,
  unsentIsReleased,
  syncFinds,
  refundsFit,
  defaultKept,
  erasedIsNameless,
  nothingAfterScheduledEnd,
  periodsFit,
];
