/** Compiles only if the value has exactly the type. */
export declare function assert<Expected>(): <Actual>(
  value: Actual,
  ...same: (<T>() => T extends Actual ? 1 : 2) extends <T>() => T extends Expected ? 1 : 2 ? [] : [never]
) => void;
