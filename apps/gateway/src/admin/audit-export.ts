import { pipeline } from 'node:stream/promises';
import { auditRecord, type AuditEntry, type AuditStore } from '@model-gateway/accounts';
import { auditExportSchema } from '@model-gateway/contracts';
import { validated } from '@model-gateway/http';
import type { z } from 'zod';
import { administration } from '../operations/administration.ts';
import type { ServeOperation } from '../operations/serve-operation.ts';

const PAGE_ENTRIES = 500;

/** `/api/admin/audit`: the audit log as JSON Lines, the oldest entry first. */
export function serveAuditExport(serve: ServeOperation, audit: Pick<AuditStore, 'read'>): void {
  const readAfter = (afterSeq: number, { from, to }: Pick<Query, 'from' | 'to'>) =>
    audit.read({ afterSeq, from, to, countMax: PAGE_ENTRIES });

  async function* linesFrom(first: readonly AuditEntry[], query: Query): AsyncGenerator<string> {
    for (let page = first; page.length > 0;) {
      yield page.map((entry) => `${JSON.stringify(auditRecord(entry))}\n`).join('');
      const last = page.at(-1);
      const isEnd = last === undefined || page.length < PAGE_ENTRIES;
      page = isEnd ? [] : await readAfter(last.seq, query);
    }
  }

  serve(administration.exportAudit, async (request, response) => {
    const query = validated(auditExportSchema, request.query);
    // Read before the headers are sent, so that an unavailable database is an error.
    const first = await readAfter(query.after, query);
    response.setHeader('content-type', 'application/x-ndjson');
    await pipeline(linesFrom(first, query), response);
    return undefined;
  });
}

type Query = z.output<typeof auditExportSchema>;
