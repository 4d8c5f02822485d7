// A user who may write Routes in the namespace shop and little else, with the official JavaScript client; throws on the
// first thing that is not as it should be.
import assert from 'node:assert/strict';
import * as k8s from '@kubernetes/client-node';

const config = new k8s.KubeConfig();
config.loadFromFile(process.argv[2]);
const core = config.makeApiClient(k8s.CoreV1Api);
const custom = config.makeApiClient(k8s.CustomObjectsApi);
const rbac = config.makeApiClient(k8s.RbacAuthorizationV1Api);
const reviews = config.makeApiClient(k8s.AuthorizationV1Api);
const at = {group: 'route.openshift.io', version: 'v1', namespace: 'shop', plural: 'routes'};
const body = {
    apiVersion: 'route.openshift.io/v1', kind: 'Route', metadata: {name: 'node', namespace: 'shop'},
    spec: {host: 'node.example.com', to: {kind: 'Service', name: 'web'}},
};
const refused = (words) => (e) => e.code === 403 && e.body.includes(words);

await custom.createNamespacedCustomObject({...at, body});
await custom.listNamespacedCustomObject(at);
await custom.patchNamespacedCustomObject({...at, name: 'node', body: [{op: 'add', path: '/spec/path', value: '/x'}]});
await custom.deleteNamespacedCustomObject({...at, name: 'node'});

const elsewhere = {...at, namespace: 'blog'};
await assert.rejects(custom.createNamespacedCustomObject({...elsewhere, body}), refused('cannot create resource'));
await assert.rejects(custom.listNamespacedCustomObject(elsewhere), refused('in the namespace \\"blog\\"'));
await assert.rejects(custom.deleteCollectionNamespacedCustomObject(elsewhere), refused('cannot deletecollection resource'));
await assert.rejects(custom.patchNamespacedCustomObjectStatus({...at, name: 'node', body: []}), refused('\\"routes/status\\"'));
await assert.rejects(core.listNamespacedSecret({namespace: 'shop'}), refused('secrets is forbidden'));
await assert.rejects(rbac.createNamespacedRoleBinding({
    namespace: 'shop',
    body: {
        metadata: {name: 'self'}, roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin'},
        subjects: [{kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io'}],
    },
}), refused('cannot create resource \\"rolebindings\\"'));

const may = async (verb, namespace) => (await reviews.createSelfSubjectAccessReview({
    body: {spec: {resourceAttributes: {verb, namespace, group: at.group, resource: 'routes'}}},
})).status.allowed;
assert.equal(await may('create', 'shop'), true);
assert.equal(await may('create', 'blog'), false);
console.log('all as it should be');
