import { assertRegistration } from '@model-gateway/backends';
import { WrongField, type ConfigEntry } from '@model-gateway/config-file';
import { isPrivateHost } from '@model-gateway/outbound';
import { assertGroupEvents } from '@model-gateway/webhooks';
import { registrationOf } from '../backend-admin/backend-registration.ts';

interface CheckRules {
  /** Whether webhooks may lead to addresses of the own network. */
  readonly webhookAllowPrivate: boolean;
}

/** Throws for an entry that its call would refuse for more than its form. */
export const createCheckEntry =
  ({ webhookAllowPrivate }: CheckRules) =>
  (entry: ConfigEntry): void => {
    if (entry.section === 'backends') assertRegistration(registrationOf(entry.value));
    if (entry.section === 'webhooks') {
      const { group_id: groupId, events, url } = entry.value;
      assertGroupEvents({ groupId: groupId ?? null, events });
      // A name is resolved with each delivery alone, so that a file can be checked where its names are unknown.
      if (!webhookAllowPrivate && isPrivateHost(new URL(url)))
        throw new WrongField(
          'url',
          'leads to a private address; set SERVICE_WEBHOOK_ALLOW_PRIVATE=1 to allow that',
        );
    }
  };
