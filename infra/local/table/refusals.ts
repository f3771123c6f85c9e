import { AwsError } from '../machine/aws-protocol.ts';

/** A request that DynamoDB refuses regardless of the table's content. */
export const invalidRequest = (message: string): AwsError => new AwsError('ValidationException', message);
