import type {
  BatchGetCommandInput,
  BatchGetCommandOutput,
  DeleteCommandInput,
  GetCommandInput,
  GetCommandOutput,
  PutCommandInput,
  QueryCommandInput,
  QueryCommandOutput,
  ScanCommandInput,
  ScanCommandOutput,
  TransactWriteCommandInput,
  UpdateCommandInput,
  UpdateCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import type { Expression } from './expression.ts';

/**
 * The operations of DynamoDB that the service uses, with items as plain objects. A client retries what is worth a retry, and
 * throws refusals as errors with DynamoDB's name for them. Undefined fields of an item are left out.
 */
export interface DynamoOperations {
  readonly get: (input: GetCommandInput) => Promise<Pick<GetCommandOutput, 'Item'>>;
  readonly batchGet: (
    input: BatchGetCommandInput,
  ) => Promise<Pick<BatchGetCommandOutput, 'Responses' | 'UnprocessedKeys'>>;
  readonly put: (input: PutCommandInput) => Promise<unknown>;
  readonly update: (input: UpdateCommandInput) => Promise<Pick<UpdateCommandOutput, 'Attributes'>>;
  readonly delete: (input: DeleteCommandInput) => Promise<unknown>;
  readonly transact: (input: TransactWriteCommandInput) => Promise<unknown>;
  readonly query: (
    input: QueryCommandInput,
  ) => Promise<Pick<QueryCommandOutput, 'Items' | 'Count' | 'ScannedCount' | 'LastEvaluatedKey'>>;
  readonly scan: (input: ScanCommandInput) => Promise<Pick<ScanCommandOutput, 'Items' | 'LastEvaluatedKey'>>;
}

/** The table that requests name, and a builder of expressions for the present second. */
export interface DynamoTable {
  readonly operations: DynamoOperations;
  readonly tableName: string;
  readonly compose: () => Expression;
}
