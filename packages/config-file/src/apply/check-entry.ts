import { ServiceError } from '@model-gateway/contracts';
import { assertGroupEvents } from '@model-gateway/webhooks';
import { WrongField } from '../read-config-file.ts';
import type { ConfigEntry, SectionValue } from '../sections.ts';
import type { EntryRules } from './entry-rules.ts';

/** Throws for an entry that its call would refuse for more than its form. */
export const createCheckEntry =
  (rules: EntryRules) =>
  (entry: ConfigEntry): void => {
    if (entry.section === 'backends') assertBackend(entry.value, rules);
    if (entry.section === 'webhooks') {
      const { group_id: groupId, events, url } = entry.value;
      assertGroupEvents({ groupId: groupId ?? null, events });
      // A name is resolved with each delivery alone, so that a file can be checked where its names are unknown.
      if (!rules.mayReceiveWebhooks(new URL(url)))
        throw new WrongField(
          'url',
          'leads to a private address; set SERVICE_WEBHOOK_ALLOW_PRIVATE=1 to allow that',
        );
    }
  };

/** Throws what the registration of a backend refuses, with the field of the file that it is about. */
function assertBackend(
  value: SectionValue<'backends'>,
  { assertRegistration, registrationOf }: EntryRules,
): void {
  try {
    assertRegistration(registrationOf(value));
  } catch (error) {
    if (error instanceof ServiceError) throw inField(error);
    throw error;
  }
}

function inField(error: ServiceError): Error {
  const { code, message } = error;
  // A value of the file can be a secret in the wrong place.
  const [, known] = /^.*; (use one of .+)$/s.exec(message) ?? [];
  if (code === 'unknown_type' && known !== undefined)
    return new WrongField('type', `is unknown; ${known}`);
  if (code === 'unknown_type') return new WrongField('type', message);
  if (code === 'bad_url') return new WrongField('url', message);
  const [, field, problem] = /^'(\w+)': (.+)$/.exec(message) ?? [];
  return field === undefined || problem === undefined ? error : new WrongField(field, problem);
}
