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
  readonly text: TextKey;
  readonly items: readonly NavigationItem[];
}

/** The account of the viewer, which the menu at the top leads to. */
export const ACCOUNT_PAGE: NavigationItem = {
  to: '/account',
  text: 'frame.account',
  icon: UserRound,
};

/** The navigation. An item is added together with its page. */
export const NAVIGATION: readonly NavigationGroup[] = [
  {
    text: 'frame.group.use',
    items: [
      { to: '/playground', text: 'playground.title', icon: MessageSquare },
      { to: '/keys', text: 'keys.title', icon: KeyRound, action: 'keys.create' },
      { to: '/usage', text: 'usage.title', icon: Activity },
      { to: '/plan', text: 'plan.title', icon: Wallet },
    ],
  },
  {
    text: 'frame.group.team',
    items: [
      { to: '/groups', text: 'groups.title', icon: Users, action: 'groups.create' },
      { to: '/people', text: 'people.title', icon: UserRound, isForAdmins: true },
    ],
  },
  {
    text: 'frame.group.operate',
    items: [
      { to: '/overview', text: 'overview.title', icon: Gauge },
      { to: '/requests', text: 'requests.title', icon: ScrollText },
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
      { to: '/video', text: 'video.title', icon: Film, action: 'video.create' },
      {
        to: '/prices',
        text: 'prices.title',
        icon: ReceiptText,
        action: 'prices.set',
        isForAdmins: true,
      },
    ],
  },
  {
    text: 'frame.group.system',
    items: [
      {
        to: '/webhooks',
        text: 'webhooks.title',
        icon: Webhook,
        action: 'webhooks.create',
        isForAdmins: true,
      },
      { to: '/audit', text: 'audit.title', icon: ShieldCheck, isForAdmins: true },
      { to: '/settings', text: 'settings.title', icon: Settings, isForAdmins: true },
    ],
  },
];
