import {
  ServiceError,
  type backendChangeSchema,
  type backendRegisteredSchema,
  type backendRequestSchema,
  type backendTestSchema,
  type backendViewSchema,
} from '@model-gateway/contracts';
import type { Cancel } from '@model-gateway/kernel';
import type { BackendConfig, Router } from '@model-gateway/router';
import type { z } from 'zod';
import { changeBackend, registerBackend, registrationOf } from './backend-registration.ts';
import { testBackend, testNewBackend } from './backend-test.ts';
import { backendView } from './backend-view.ts';

type BackendBody = z.output<typeof backendRequestSchema>;
type BackendView = z.input<typeof backendViewSchema>;
type Registered = z.input<typeof backendRegisteredSchema>;
type Tested = z.input<typeof backendTestSchema>;

interface TestOptions {
  /** The model to chat with; otherwise one is chosen. */
  readonly model: string | undefined;
  readonly cancel: Cancel;
}

/** What operators do with backends, in each API. A name that no backend has is `not_found`. */
export interface BackendAdmin {
  list(): BackendView[];
  get(name: string): BackendView;
  /** Registers a backend, or replaces the one of the same name. */
  register(body: BackendBody): Promise<Registered>;
  /** Registers a backend; refused if there is one of this name. */
  add(body: BackendBody): Promise<Registered>;
  change(name: string, body: z.output<typeof backendChangeSchema>): Promise<Registered>;
  remove(name: string): Promise<void>;
  test(name: string, options: TestOptions): Promise<Tested>;
  /** Tests a backend without registering it. */
  testNew(body: BackendBody, options: TestOptions): Promise<Tested>;
}

export function createBackendAdmin(
  router: Pick<Router, 'list' | 'registry' | 'probe' | 'use'>,
): BackendAdmin {
  const { registry } = router;

  function list(): BackendView[] {
    return router.list().flatMap((routed, index) => {
      const config = registry.find(routed.backend.name);
      return config === undefined ? [] : [backendView(routed, index, config)];
    });
  }

  function configOf(name: string): BackendConfig {
    const config = registry.find(name);
    if (config === undefined) throw notFound(name);
    return config;
  }

  const register = (body: BackendBody): Promise<Registered> =>
    registerBackend(registry, registrationOf(body));

  return {
    list,
    get(name) {
      const found = list().find((view) => view.name === name);
      if (found === undefined) throw notFound(name);
      return found;
    },
    register,
    async add(body) {
      const { name } = registrationOf(body);
      if (registry.find(name) === undefined) return register(body);
      throw new ServiceError(
        'missing_fields',
        `there is a backend with the name '${name}'; use another name, or change that one`,
      );
    },
    async change(name, body) {
      const changed = await changeBackend(registry, name, body);
      if (changed === undefined) throw notFound(name);
      return changed;
    },
    async remove(name) {
      if (!(await registry.remove(name))) throw notFound(name);
    },
    async test(name, options) {
      configOf(name);
      const result = await testBackend(router, { name, ...options });
      if (result === undefined) throw notFound(name);
      return result;
    },
    testNew: (body, options) => testNewBackend(registry, registrationOf(body), options),
  };
}

const notFound = (name: string): ServiceError =>
  new ServiceError('not_found', `no backend has the name '${name}'`);
