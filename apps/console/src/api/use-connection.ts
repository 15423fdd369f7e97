import { createContext, useContext } from 'react';
import type { ServiceStatus } from './connection.ts';

export const ConnectionContext = createContext<ServiceStatus | undefined>(undefined);

export function useConnection(): ServiceStatus {
  const connection = useContext(ConnectionContext);
  if (connection === undefined) throw new Error('there is no connection around this component');
  return connection;
}
