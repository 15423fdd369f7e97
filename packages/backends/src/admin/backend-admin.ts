import type { FileEntries } from '@model-gateway/config-file';
import {
  ServiceError,
  type backendChangeSchema,
  type backendRegisteredSchema,
  type backendRequestSchema,
  type backendTestSchema,
  type backendViewSchema,
} from '@model-gateway/contracts';
import type { BackendConfig, Router } from '@model-gateway/router';
import type { z } from 'zod';
import {
  changeBackend,
  registerBackend,
  registrationOf,
  replacementWarnings,
} from './backend-registration.ts';
import { testBackend, testNewBackend } from './backend-test.ts';
import { backendView } from './backend-view.ts';

type BackendBody = z.output<typeof backendRequestSchema>;
type BackendView = z.input<typeof backendViewSchema>;
type Registered = z.input<typeof backendRegisteredSchema>;
type Tested = z.input<typeof backendTestSchema>;

interface TestOptions {
  /** The model to chat with; otherwise one is chosen. */
  readonly model: string | undefined;
  readonly cancel: AbortSignal;
}

/**
 * What operators do with backends, in each API. A name that no backend has is `not_found`; changes of one that comes from
 * the configuration file are refused.
 */
export interface BackendAdmin {
  list(): BackendView[];
  get(name: string): BackendView;
  /** Registers a backend, or replaces the one of the same name. */
  register(body: BackendBody): Promise<Registered>;
  /** Registers a backend; refused if there is one of this name. */
  add(body: BackendBody): Promise<Registered>;
  change(name: string, body: z.output<typeof backendChangeSchema>): Promise<Registered>;
  remove(name: string): Promise<void>;
  /** By its position in the list; false if there is none. */
  removeAt(index: number): Promise<boolean>;
  test(name: string, options: TestOptions): Promise<Tested>;
  /** Tests a backend without registering it. */
  testNew(body: BackendBody, options: TestOptions): Promise<Tested>;
}

export function createBackendAdmin(
  router: Pick<Router, 'list' | 'registry' | 'probe' | 'use'> & {
    readonly fileEntries: FileEntries;
  },
): BackendAdmin {
  const { registry, fileEntries } = router;

  function list(): BackendView[] {
    return router.list().flatMap((routed, index) => {
      const config = registry.find(routed.backend.name);
      return config === undefined ? [] : [backendView(routed, index, config, fileEntries)];
    });
  }

  function configOf(name: string): BackendConfig {
    const config = registry.find(name);
    if (config === undefined) throw notFound(name);
    return config;
  }

  async function register(body: BackendBody): Promise<Registered> {
    const config = registrationOf(body);
    await fileEntries.assertChangeable('backends', config.name);
    const warnings = replacementWarnings(registry.find(config.name), config);
    const registered = await registerBackend(registry, config);
    return warnings.length === 0 ? registered : { ...registered, warnings };
  }

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
      await fileEntries.assertChangeable('backends', name);
      if (registry.find(name) === undefined) return register(body);
      throw new ServiceError(
        'missing_fields',
        `there is a backend with the name '${name}'; use another name, or change that one`,
      );
    },
    async change(name, body) {
      await fileEntries.assertChangeable('backends', name);
      const changed = await changeBackend(registry, name, body);
      if (changed === undefined) throw notFound(name);
      return changed;
    },
    async remove(name) {
      await fileEntries.assertChangeable('backends', name);
      if (!(await registry.remove(name))) throw notFound(name);
    },
    async removeAt(index) {
      const name = router.list()[index]?.backend.name;
      if (name === undefined) return false;
      await fileEntries.assertChangeable('backends', name);
      return registry.remove(name);
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
