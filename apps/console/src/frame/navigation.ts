import {
  Activity,
  Gauge,
  KeyRound,
  MessageSquare,
  ScrollText,
  Users,
  Wallet,
  type LucideIcon,
} from 'lucide-react';
import type { TextKey } from '../texts/texts.ts';

/** One page in the navigation. */
export interface NavigationItem {
  readonly to: string;
  readonly text: TextKey;
  readonly icon: LucideIcon;
  /** Whether only admins see it. */
  readonly isForAdmins?: boolean;
}

interface NavigationGroup {
  readonly text: TextKey;
  readonly items: readonly NavigationItem[];
}

/** The navigation. An item is added together with its page. */
export const NAVIGATION: readonly NavigationGroup[] = [
  {
    text: 'frame.group.use',
    items: [
      { to: '/playground', text: 'playground.title', icon: MessageSquare },
      { to: '/keys', text: 'keys.title', icon: KeyRound },
      { to: '/usage', text: 'usage.title', icon: Activity },
      { to: '/plan', text: 'plan.title', icon: Wallet },
    ],
  },
  {
    text: 'frame.group.team',
    items: [{ to: '/groups', text: 'groups.title', icon: Users }],
  },
  {
    text: 'frame.group.operate',
    items: [
      { to: '/overview', text: 'overview.title', icon: Gauge },
      { to: '/requests', text: 'requests.title', icon: ScrollText },
    ],
  },
  { text: 'frame.group.system', items: [] },
];
