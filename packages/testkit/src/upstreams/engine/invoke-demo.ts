import { asList, asObject } from '@model-gateway/demo-model/answers';

/** Handles an invocation. */
export type Invoke = (method: string, params: unknown) => unknown;

/** Accepts sensor readings and setpoints of a control loop, and echoes everything else. */
export function invokeDemo(): Invoke {
  let sequence = 0;
  let setpoint: unknown = null;
  return (method, params) => {
    sequence += 1;
    if (method === 'sensor.ingest') {
      const accepted = Math.max(asList(asObject(params).readings).length, 1);
      return { ok: true, sequence, accepted, setpoint };
    }
    if (method === 'control.setpoint') {
      setpoint = params ?? null;
      return { ok: true, sequence, applied: setpoint };
    }
    return { method, params: params ?? null, sequence };
  };
}
