import { assertRegistration } from '@model-gateway/backends';
import type { ConfigEntry } from '@model-gateway/config-file';
import { assertGroupEvents } from '@model-gateway/webhooks';
import { registrationOf } from '../backend-admin/backend-registration.ts';

/** Throws for an entry that its call would refuse for more than its form. */
export function checkEntry(entry: ConfigEntry): void {
  if (entry.section === 'backends') assertRegistration(registrationOf(entry.value));
  if (entry.section === 'webhooks') {
    const { group_id: groupId, events } = entry.value;
    assertGroupEvents({ groupId: groupId ?? null, events });
  }
}
