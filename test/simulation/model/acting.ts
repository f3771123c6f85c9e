/** The actor of a history item or of the current work. */
interface Acting {
  readonly type: string;
  readonly id: string;
  readonly onBehalfOf?: { readonly type: string; readonly id: string } | undefined;
}

/** The person for whom a service key acted, else the actor. */
export const actingPerson = (actor: Acting | undefined): Pick<Acting, 'type' | 'id'> | undefined =>
  actor?.onBehalfOf ?? actor;
