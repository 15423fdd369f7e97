import {
  Activity,
  Boxes,
  Cpu,
  Film,
  Gauge,
  KeyRound,
  MessageSquare,
  ReceiptText,
  ScrollText,
  Server,
  Settings,
  ShieldCheck,
  Split,
  UserRound,
  Users,
  Wallet,
  Webhook,
  type LucideIcon,
} from 'lucide-react';
import type { TextKey } from '../texts/texts.ts';

/** One page in the navigation. */
export interface NavigationItem {
  readonly to: string;
  readonly text: TextKey;
  readonly icon: LucideIcon;
  /** What the page creates, in its dialog. */
  readonly action?: TextKey;
  /** Whether only admins see it. */
  readonly isForAdmins?: boolean;
}

interface NavigationGroup {
  /** The first group has none. */
  readonly text?: TextKey;
  readonly items: readonly NavigationItem[];
}

/** The account of the viewer, which the menu at the top leads to. */
export const ACCOUNT_PAGE: NavigationItem = {
  to: '/account',
  text: 'frame.account',
  icon: UserRound,
};

/** The navigation: what a person wants first, then groups. An item is added together with its page. */
export const NAVIGATION: readonly NavigationGroup[] = [
  { items: [{ to: '/overview', text: 'overview.title', icon: Gauge }] },
  {
    text: 'frame.group.build',
    items: [
      { to: '/playground', text: 'playground.title', icon: MessageSquare },
      { to: '/keys', text: 'keys.title', icon: KeyRound, action: 'keys.create' },
      { to: '/usage', text: 'usage.title', icon: Activity },
      { to: '/plan', text: 'plan.title', icon: Wallet },
      { to: '/video', text: 'video.title', icon: Film, action: 'video.create' },
    ],
  },
  {
    text: 'frame.group.serve',
    items: [
      { to: '/models', text: 'models.title', icon: Boxes, isForAdmins: true },
      {
        to: '/backends',
        text: 'backends.title',
        icon: Server,
        action: 'backends.add',
        isForAdmins: true,
      },
      { to: '/routes', text: 'routes.title', icon: Split, action: 'routes.add', isForAdmins: true },
      { to: '/nodes', text: 'nodes.title', icon: Cpu, action: 'nodes.add', isForAdmins: true },
    ],
  },
  {
    text: 'frame.group.watch',
    items: [
      { to: '/requests', text: 'requests.title', icon: ScrollText },
      { to: '/audit', text: 'audit.title', icon: ShieldCheck, isForAdmins: true },
      {
        to: '/webhooks',
        text: 'webhooks.title',
        icon: Webhook,
        action: 'webhooks.create',
        isForAdmins: true,
      },
    ],
  },
  {
    text: 'frame.group.manage',
    items: [
      { to: '/people', text: 'people.title', icon: UserRound, isForAdmins: true },
      { to: '/groups', text: 'groups.title', icon: Users, action: 'groups.create' },
      {
        to: '/prices',
        text: 'prices.title',
        icon: ReceiptText,
        action: 'prices.set',
        isForAdmins: true,
      },
      { to: '/settings', text: 'settings.title', icon: Settings, isForAdmins: true },
    ],
  },
];
