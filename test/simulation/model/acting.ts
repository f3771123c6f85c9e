/** Who acted, as a history item or the current work names it. */
interface Acting {
  readonly type: string;
  readonly id: string;
  readonly onBehalfOf?: { readonly type: string; readonly id: string } | undefined;
}

/** The person for whom a service key acted, else the actor. */
export const actingPerson = (actor: Acting | undefined): Pick<Acting, 'type' | 'id'> | undefined =>
  actor?.onBehalfOf ?? actor;
