import { checkDiscount } from '../../shared/discounts/check-discount.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { checkDiscountEndpoint } from './endpoints.ts';

export const handler = lambda(checkDiscountEndpoint, webDeps, checkDiscount);
