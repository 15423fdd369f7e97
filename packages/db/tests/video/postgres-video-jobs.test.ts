import type { NewVideoJob } from '@model-gateway/inference';
import { newId } from '@model-gateway/kernel';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';

const RESULT = { url: 'https://cdn.example.com/1.mp4' };
const TO = { backend: 'cloud', servedModel: 'v-1' };

describe('video jobs in Postgres', () => {
  let database: OpenedDatabase;
  let userId: string;

  beforeAll(async () => {
    database = await openTestDatabase();
    userId = await newUser();
  });
  afterAll(() => database.close());

  async function newUser(): Promise<string> {
    const id = newId();
    const email = `${id}@example.com`;
    await database.users.create({ id, email, name: '', passwordHash: 'hash' });
    return id;
  }
  const jobOf = (overrides: Partial<NewVideoJob> = {}): NewVideoJob => ({
    id: newId(),
    payer: {
      userId,
      keyId: null,
      apiKeyId: `jwt-${userId}`,
      project: null,
      groupId: null,
      multiplier: 1,
    },
    model: 'alias',
    resolvedModel: 'v-1',
    order: { prompt: 'a cat' },
    images: [],
    idempotencyKey: null,
    orderHash: null,
    allowedModels: null,
    unfinishedMax: 10_000,
    ...overrides,
  });
  async function added(overrides: Partial<NewVideoJob> = {}): Promise<string> {
    return (await database.videoJobs.create(jobOf(overrides))).job.id;
  }
  async function began(overrides: Partial<NewVideoJob> = {}): Promise<string> {
    const id = await added(overrides);
    await database.videoJobs.startSubmission(id, TO);
    await database.videoJobs.begin(id, 'task-1');
    return id;
  }
  const ends = {
    done: (id: string) =>
      database.videoJobs.finish(id, { result: RESULT, cost: 0.5, at: new Date() }),
    failed: async (id: string) => (await database.videoJobs.fail(id, 'no GPU')) !== undefined,
    cancelled: (id: string) => database.videoJobs.cancel(id),
  };

  it('come back as they were added', async () => {
    const order = {
      prompt: 'half a \ud83d smile',
      duration_seconds: 8,
      extra: { seed: 1, text: 'half \ude00' },
    };
    const images = [
      { mimeType: 'image/png', data: new Uint8Array([1, 2, 3]) },
      { mimeType: 'image/webp', data: new Uint8Array([4]) },
    ];
    const job = jobOf({ order, images });
    const { job: shown, isNew } = await database.videoJobs.create(job);
    expect(isNew).toBe(true);
    const view = { id: job.id, userId, model: 'alias', status: 'queued', progress: 0, cost: 0 };
    expect(shown).toMatchObject({ ...view, result: null, error: null });
    expect(await database.videoJobs.find(job.id)).toEqual(shown);
    expect(await database.videoJobs.findWork(job.id)).toEqual({
      ...shown,
      payer: job.payer,
      allowedModels: null,
      resolvedModel: 'v-1',
      order: {
        prompt: 'half a \ufffd smile',
        duration_seconds: 8,
        extra: { seed: 1, text: 'half \ufffd' },
      },
      backend: null,
      servedModel: null,
      cancelling: null,
    });
    const kept = await database.videoJobs.images(job.id);
    expect(kept.map(({ mimeType, data }) => [mimeType, ...data])).toEqual([
      ['image/png', 1, 2, 3],
      ['image/webp', 4],
    ]);
    expect(await database.videoJobs.find(newId())).toBeUndefined();
  });

  it('are listed for their owner, the newest first', async () => {
    const other = await newUser();
    const payer = { ...jobOf().payer, userId: other };
    const ids = [await added({ payer }), await added({ payer }), await added({ payer })];
    const listed = await database.videoJobs.list(other, 2);
    expect(listed.map(({ id }) => id)).toEqual(ids.toReversed().slice(0, 2));
  });

  it('are added once for a key of a user, however many ask at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => database.videoJobs.create(jobOf({ idempotencyKey: 'k' }))),
    );
    expect(new Set(answers.map(({ job }) => job.id)).size).toBe(1);
    expect(answers.filter(({ isNew }) => isNew)).toHaveLength(1);
    const payer = { ...jobOf().payer, userId: await newUser() };
    const { isNew } = await database.videoJobs.create(jobOf({ payer, idempotencyKey: 'k' }));
    expect(isNew).toBe(true);
  });

  it('are submitted only while they are queued, and may go elsewhere when that had no effect', async () => {
    const id = await added();
    expect(await database.videoJobs.startSubmission(id, TO)).toBe(true);
    expect(await database.videoJobs.findWork(id)).toMatchObject(TO);
    await database.videoJobs.undoSubmission(id);
    expect(await database.videoJobs.findWork(id)).toMatchObject({
      backend: null,
      servedModel: null,
    });
    await database.videoJobs.startSubmission(id, TO);
    expect(await database.videoJobs.begin(id, 'task-1')).toBe(true);
    expect(await database.videoJobs.begin(id, 'task-2')).toBe(false);
    expect(await database.videoJobs.startSubmission(id, TO)).toBe(false);
    await database.videoJobs.undoSubmission(id);
    const poll = await database.videoJobs.claimPoll(id, 0);
    expect(poll).toEqual({
      id,
      backend: 'cloud',
      taskId: 'task-1',
      startedAt: expect.any(Date) as Date,
    });
  });

  it('are polled by one worker in an interval, and only while they run', async () => {
    const id = await began();
    const HOUR_MS = 3_600_000;
    const claims = await Promise.all(
      Array.from({ length: 5 }, () => database.videoJobs.claimPoll(id, HOUR_MS)),
    );
    expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
    expect(await database.videoJobs.claimPoll(id, 0)).toBeDefined();
    await ends.cancelled(id);
    expect(await database.videoJobs.claimPoll(id, 0)).toBeUndefined();
    expect(await database.videoJobs.claimPoll(await added(), 0)).toBeUndefined();
  });

  it('move on and never back', async () => {
    const id = await began();
    const moves = [10, 5, 10, 50, 0];
    const moved: boolean[] = [];
    for (const progress of moves) moved.push(await database.videoJobs.advance(id, progress));
    expect(moved).toEqual([true, false, false, true, false]);
    await Promise.all([60, 80, 70].map((progress) => database.videoJobs.advance(id, progress)));
    expect(await database.videoJobs.find(id)).toMatchObject({ progress: 80 });
    await ends.failed(id);
    expect(await database.videoJobs.advance(id, 90)).toBe(false);
  });

  it.each([
    { from: 'queued', end: 'done', may: false },
    { from: 'queued', end: 'failed', may: true },
    { from: 'queued', end: 'cancelled', may: true },
    { from: 'running', end: 'done', may: true },
    { from: 'running', end: 'failed', may: true },
    { from: 'running', end: 'cancelled', may: true },
  ] as const)('may be $end when $from: $may', async ({ from, end, may }) => {
    const images = [{ mimeType: 'image/png', data: new Uint8Array([1]) }];
    const id = from === 'queued' ? await added({ images }) : await began({ images });
    expect(await ends[end](id)).toBe(may);
    expect(await database.videoJobs.find(id)).toMatchObject({ status: may ? end : from });
    expect(await database.videoJobs.images(id)).toHaveLength(may ? 0 : 1);
    const events = await database.raw.query(
      'SELECT type, data FROM outbox_events WHERE key LIKE $1',
      [`%${id}`],
    );
    const data = { job_id: id, user_id: userId, model: 'alias' };
    const isReported = may && end !== 'cancelled';
    expect(events).toMatchObject(isReported ? [{ type: `video.${end}`, data }] : []);
  });

  it('say whose they were when they fail', async () => {
    const id = await began();
    expect(await database.videoJobs.fail(id, 'no GPU')).toEqual({
      userId,
      model: 'alias',
      backend: TO.backend,
    });
    expect(await database.videoJobs.fail(id, 'no GPU')).toBeUndefined();
  });

  it('end once, by the first call', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await began();
      const won = await Promise.all([ends.done(id), ends.failed(id), ends.cancelled(id)]);
      expect(won.filter(Boolean)).toHaveLength(1);
      const { status, cost, error } = (await database.videoJobs.find(id)) ?? {};
      expect(['done', 'failed', 'cancelled'][won.indexOf(true)]).toBe(status);
      expect([cost, error]).toEqual(
        status === 'done' ? [0.5, null] : [0, status === 'failed' ? 'no GPU' : 'cancelled'],
      );
    }
  });

  it('keep what an upstream said, as far as that can be kept', async () => {
    const failed = await began();
    await database.videoJobs.fail(failed, 'no\u0000 GPU \ud83d');
    expect(await database.videoJobs.find(failed)).toMatchObject({ error: 'no GPU \ufffd' });
    const done = await began();
    const result = { url: 'https://cdn.example.com/\u00001.mp4', width: 1 };
    await database.videoJobs.finish(done, { result, cost: 1, at: new Date() });
    expect(await database.videoJobs.find(done)).toMatchObject({
      progress: 100,
      result: { url: 'https://cdn.example.com/1.mp4', width: 1 },
    });
  });

  it('that are unfinished are found, but not while they are being submitted', async () => {
    await database.raw.query('DELETE FROM video_jobs');
    const waiting = await added();
    const running = await began();
    const submitting = await added();
    await database.videoJobs.startSubmission(submitting, TO);
    for (const end of Object.values(ends)) {
      const ended = await began();
      await end(ended);
      await database.videoJobs.endCancel(ended, 0);
    }
    const found = async (submittingMs: number): Promise<readonly string[]> => {
      const ids: string[] = [];
      for await (const page of database.videoJobs.unfinished(submittingMs)) ids.push(...page);
      return ids;
    };
    expect(await found(60_000)).toEqual([waiting, running]);
    expect(await found(0)).toEqual([waiting, running, submitting]);
  });

  it('that were cancelled while they ran are found until their upstream was asked', async () => {
    const found = async (): Promise<readonly string[]> => {
      const ids: string[] = [];
      for await (const page of database.videoJobs.unfinished(0)) ids.push(...page);
      return ids;
    };
    await database.raw.query('DELETE FROM video_jobs');
    const [queued, running, failed] = [await added(), await began(), await began()];
    for (const id of [queued, running]) expect(await ends.cancelled(id)).toBe(true);
    await ends.failed(failed);
    expect(await found()).toEqual([running]);
    expect(await database.videoJobs.findWork(running)).toMatchObject({
      cancelling: { backend: TO.backend, taskId: expect.any(String) as string },
    });
    const ended = [1, 2].map(() => database.videoJobs.endCancel(running, 0.25));
    expect((await Promise.all(ended)).filter(Boolean)).toHaveLength(1);
    expect(await database.videoJobs.findWork(running)).toMatchObject({
      status: 'cancelled',
      cost: 0.25,
      cancelling: null,
    });
    expect(await found()).toEqual([]);
  });

  it('that were cancelled while they ran count as unfinished until their upstream was asked', async () => {
    const payer = { ...jobOf().payer, userId: await newUser() };
    const [queued, running] = [await added({ payer }), await began({ payer })];
    const another = () => database.videoJobs.create(jobOf({ payer, unfinishedMax: 1 }));
    for (const id of [queued, running]) await ends.cancelled(id);
    await expect(another()).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    await database.videoJobs.endCancel(running, 0);
    expect(await another()).toMatchObject({ isNew: true });
  });

  it('that were cancelled during their submission keep the task that it made', async () => {
    const id = await added();
    await database.videoJobs.startSubmission(id, TO);
    expect(await database.videoJobs.addCancelledTask(id, 'late')).toBe(false);
    await ends.cancelled(id);
    expect(await database.videoJobs.begin(id, 'late')).toBe(false);
    expect(await database.videoJobs.addCancelledTask(id, 'late')).toBe(true);
    expect(await database.videoJobs.addCancelledTask(id, 'later')).toBe(false);
    expect(await database.videoJobs.findWork(id)).toMatchObject({
      status: 'cancelled',
      cancelling: { taskId: 'late' },
    });
    await database.videoJobs.endCancel(id, 0);
  });

  it('that are unfinished are found in pages, however many there are', async () => {
    await database.raw.query('DELETE FROM video_jobs');
    await database.raw.query(
      `INSERT INTO video_jobs (user_id, api_key_id, model, resolved_model, request, created_at)
       SELECT $1, 'jwt', 'm', 'm', '{}', now() - (number % 7) * INTERVAL '1 minute' FROM generate_series(1, 2500) number`,
      [userId],
    );
    const pages: number[] = [];
    const ids = new Set<string>();
    for await (const page of database.videoJobs.unfinished(0)) {
      pages.push(page.length);
      for (const id of page) ids.add(id);
    }
    expect([pages, ids.size]).toEqual([[1000, 1000, 500], 2500]);
  });

  it('of a deleted group are paid by their user, at the plain price', async () => {
    const groupId = newId();
    await database.groups.create({ id: groupId, ownerId: userId, name: 'g', description: '' });
    const id = await added({ payer: { ...jobOf().payer, groupId, multiplier: 3 } });
    expect(await database.videoJobs.findWork(id)).toMatchObject({
      payer: { groupId, multiplier: 3 },
    });
    await database.groups.delete(groupId);
    expect(await database.videoJobs.findWork(id)).toMatchObject({
      payer: { groupId: null, multiplier: 1 },
    });
  });
});
