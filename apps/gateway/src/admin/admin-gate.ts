import { ServiceError } from '@model-gateway/contracts';
import { bearerOf } from '@model-gateway/http';
import { constantTimeEqual } from '@model-gateway/kernel';
import type { RequestHandler } from 'express';

/** Lets through only the bearer that equals the admin token; without a configured token, nobody. */
export function createAdminGate(adminToken: string | undefined): RequestHandler {
  return (request, _response, next) => {
    const bearer = bearerOf(request);
    const admitted =
      adminToken !== undefined && bearer !== undefined && constantTimeEqual(bearer, adminToken);
    if (!admitted) throw new ServiceError('admin_token_required', 'admin access required');
    next();
  };
}
