/** The response of a JSON-RPC call. */
export interface RpcAnswer {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Calls one method of a management plane over HTTP. */
export async function rpcCall(
  baseUrl: string,
  method: string,
  params: unknown,
  bearer?: string,
): Promise<RpcAnswer> {
  const response = await fetch(`${baseUrl}/api/rpc`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return (await response.json()) as RpcAnswer;
}
