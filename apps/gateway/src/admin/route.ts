import { routeQuerySchema } from '@model-gateway/contracts';
import { validated } from '@model-gateway/http';
import type { ExplainRoute } from '@model-gateway/inference';
import { Router } from 'express';
import { onlyTheseMethods } from '../only-these-methods.ts';

/** `/api/admin/route`: where a request for a model would go now. */
export function createRouteAdmin(explainRoute: ExplainRoute): Router {
  const routes = Router();
  routes
    .route('/')
    .get(async (request, response) => {
      const { key, ...query } = validated(routeQuerySchema, request.query);
      response.json(await explainRoute({ ...query, keyId: key }));
    })
    .all(onlyTheseMethods('GET'));
  return routes;
}
