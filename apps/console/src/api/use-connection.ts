import { createContext, useContext } from 'react';
import type { Connection } from './connection.ts';

export const ConnectionContext = createContext<Connection | undefined>(undefined);

export function useConnection(): Connection {
  const connection = useContext(ConnectionContext);
  if (connection === undefined) throw new Error('there is no connection around this component');
  return connection;
}
