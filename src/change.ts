// One numbered change for every create, update and delete, written in the transaction of the write itself.

export type ChangeType = 'plant.created' | 'plant.updated' | 'plant.deleted';
