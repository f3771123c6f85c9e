import type { Connection, TransactionStep } from '../../../shared/platform/connection.ts';

/** The table as a function reaches it. Each call needs the IAM action that AWS requires for it. */
export const checkedConnection = (
  connection: Connection,
  require: (actions: readonly string[]) => void,
): Connection => ({
  getItem: async (...call) => {
    require(['dynamodb:GetItem']);
    return connection.getItem(...call);
  },
  getBatch: async (...call) => {
    require(['dynamodb:BatchGetItem']);
    return connection.getBatch(...call);
  },
  putItem: async (...call) => {
    require(['dynamodb:PutItem']);
    return connection.putItem(...call);
  },
  updateItem: async (update) => {
    require(['dynamodb:UpdateItem']);
    return connection.updateItem(update);
  },
  deleteItem: async (...call) => {
    require(['dynamodb:DeleteItem']);
    return connection.deleteItem(...call);
  },
  transact: async (steps, token) => {
    require(steps.map(actionOf));
    return connection.transact(steps, token);
  },
  query: async (query) => {
    require(['dynamodb:Query']);
    return connection.query(query);
  },
  count: async (query) => {
    require(['dynamodb:Query']);
    return connection.count(query);
  },
  scan: async (slice) => {
    require(['dynamodb:Scan']);
    return connection.scan(slice);
  },
});

/** A transaction needs the action of each of its steps. */
const actionOf = (step: TransactionStep): string => {
  if ('put' in step) return 'dynamodb:PutItem';
  if ('update' in step) return 'dynamodb:UpdateItem';
  return 'delete' in step ? 'dynamodb:DeleteItem' : 'dynamodb:ConditionCheckItem';
};
