import type { Connection, TransactionStep } from '../../../shared/platform/connection.ts';
import type { Access } from './rights.ts';

/** The table's connection for functions. Each call requires the IAM action that AWS would require. */
export const checkedConnection = (
  connection: Connection,
  require: (accesses: readonly Access[]) => void,
): Connection => ({
  getItem: async (...call) => {
    require([{ action: 'dynamodb:GetItem' }]);
    return connection.getItem(...call);
  },
  getBatch: async (...call) => {
    require([{ action: 'dynamodb:BatchGetItem' }]);
    return connection.getBatch(...call);
  },
  putItem: async (item, clauses) => {
    require([accessOf({ put: item })]);
    return connection.putItem(item, clauses);
  },
  updateItem: async (update) => {
    require([accessOf({ update: update.key, changes: update.changes })]);
    return connection.updateItem(update);
  },
  deleteItem: async (key, clauses) => {
    require([accessOf({ delete: key })]);
    return connection.deleteItem(key, clauses);
  },
  transact: async (steps, token) => {
    require(steps.map(accessOf));
    return connection.transact(steps, token);
  },
  query: async (query) => {
    require([{ action: 'dynamodb:Query' }]);
    return connection.query(query);
  },
  count: async (query) => {
    require([{ action: 'dynamodb:Query' }]);
    return connection.count(query);
  },
  scan: async (slice) => {
    require([{ action: 'dynamodb:Scan' }]);
    return connection.scan(slice);
  },
});

/** The access that a write step requires. A transaction requires the access of all its steps. */
const accessOf = (step: TransactionStep): Access => {
  if ('put' in step) return { action: 'dynamodb:PutItem', partition: String(step.put['pk']) };
  if ('update' in step) return { action: 'dynamodb:UpdateItem', partition: step.update.pk };
  if ('delete' in step) return { action: 'dynamodb:DeleteItem', partition: step.delete.pk };
  return { action: 'dynamodb:ConditionCheckItem', partition: step.check.pk };
};
