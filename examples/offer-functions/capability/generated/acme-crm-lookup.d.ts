// Made from wit/ by .ci/generate.ts. Do not edit.
declare module 'acme:crm/lookup@1.0.0' {
  export function find(name: string): Customer;
  /**
   * # Variants
   * 
   * ## `"standard"`
   * 
   * ## `"gold"`
   */
  export type Tier = 'standard' | 'gold';
  export interface Customer {
    id: number,
    name: string,
    /**
     * None: the customer wants no mail.
     */
    email?: string | null,
    /**
     * Below zero: the customer owes us.
     */
    balanceCents: number,
    tier: Tier,
  }
  export type LookupError = LookupErrorNotFound | LookupErrorAmbiguous;
  export interface LookupErrorNotFound {
    tag: 'not-found',
  }
  /**
   * How many customers have this name.
   */
  export interface LookupErrorAmbiguous {
    tag: 'ambiguous',
    val: number,
  }
}
