import { ServiceError } from '@model-gateway/contracts';
import { bearerOf } from '@model-gateway/http';
import { constantTimeEqual } from '@model-gateway/kernel';
import type { RequestHandler } from 'express';

/** Accepts only the bearer token that equals the admin token; without a configured token it refuses every request. */
export function createAdminCheck(adminToken: string | undefined): RequestHandler {
  return (request, _response, next) => {
    const bearer = bearerOf(request);
    const admitted =
      adminToken !== undefined && bearer !== undefined && constantTimeEqual(bearer, adminToken);
    if (!admitted) throw new ServiceError('admin_token_required', 'admin access required');
    next();
  };
}
