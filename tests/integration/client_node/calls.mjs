// One pass over the calls of the official JavaScript client; throws on the first thing that is not as it should be.
import assert from 'node:assert/strict';
import * as k8s from '@kubernetes/client-node';

const config = new k8s.KubeConfig();
config.loadFromFile(process.argv[2]);
const core = config.makeApiClient(k8s.CoreV1Api);
const custom = config.makeApiClient(k8s.CustomObjectsApi);
const objects = k8s.KubernetesObjectApi.makeApiClient(config);
const at = {group: 'route.openshift.io', version: 'v1', namespace: 'default', plural: 'routes'};
const body = {
    apiVersion: 'route.openshift.io/v1', kind: 'Route', metadata: {name: 'node', namespace: 'default'},
    spec: {host: 'node.example.com', to: {kind: 'Service', name: 'web'}},
};

const namespaces = await core.listNamespace();
assert.ok(namespaces.items.some((n) => n.metadata.name === 'default'));

const created = await custom.createNamespacedCustomObject({...at, body});
assert.equal(created.metadata.generation, 1);
assert.equal(created.status.phase, 'new');

const patched = await custom.patchNamespacedCustomObject(
    {...at, name: 'node', body: [{op: 'add', path: '/spec/path', value: '/json'}]});
assert.equal(patched.spec.path, '/json');
const merged = await custom.patchNamespacedCustomObject(
    {...at, name: 'node', body: {spec: {path: '/merge'}}}, k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.MergePatch));
assert.equal(merged.spec.path, '/merge');

const read = await objects.read({apiVersion: body.apiVersion, kind: body.kind, metadata: body.metadata});
read.spec.path = '/replaced';
const replaced = await objects.replace(read);
assert.equal(replaced.spec.path, '/replaced');
await assert.rejects(objects.replace(read), (e) => e.code === 409 && /the object has been modified/.test(e.body));

const listed = await custom.listNamespacedCustomObject({...at, limit: 1});
assert.equal(listed.items.length, 1);
await assert.rejects(custom.getNamespacedCustomObject({...at, name: 'missing'}), (e) => e.code === 404);

// Server-side apply: takes what nobody else owns, tells what somebody does, and does nothing the second time.
const applying = k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.ServerSideApply);
const wanted = {...body, metadata: {name: 'node', namespace: 'default', labels: {applied: 'yes'}}, spec: {path: '/applied'}};
const apply = (more) => custom.patchNamespacedCustomObject(
    {...at, name: 'node', body: wanted, fieldManager: 'node-apply', ...more}, applying);
await assert.rejects(apply({}), (e) => e.code === 409 && /Apply failed with 1 conflict: conflict with .*: .spec.path/.test(e.body));
const applied = await apply({force: true});
assert.equal(applied.spec.path, '/applied');
assert.equal(applied.spec.host, 'node.example.com');
assert.ok(applied.metadata.managedFields.some((m) => m.manager === 'node-apply' && m.operation === 'Apply'));
assert.deepEqual(await apply({}), applied);
const generic = await objects.patch({...wanted, spec: {path: '/generic'}}, undefined, undefined, 'node-apply', undefined,
                                    k8s.PatchStrategy.ServerSideApply);
assert.equal(generic.spec.path, '/generic');

// Delete options travel in the query with an empty JSON body.
await custom.deleteNamespacedCustomObject({...at, name: 'node', gracePeriodSeconds: 0, propagationPolicy: 'Background'});
await assert.rejects(custom.getNamespacedCustomObject({...at, name: 'node'}), (e) => e.code === 404);
console.log('all calls are fine');
