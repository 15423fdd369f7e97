import { Activity, KeyRound, MessageSquare, type LucideIcon } from 'lucide-react';
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
    ],
  },
  { text: 'frame.group.team', items: [] },
  { text: 'frame.group.operate', items: [] },
  { text: 'frame.group.system', items: [] },
];
