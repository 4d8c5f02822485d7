// An informer of the official JavaScript client. Prints one JSON line per event; the test restarts the server under it
// and compares what the informer holds in the end with what the server has.
import * as k8s from '@kubernetes/client-node';

const config = new k8s.KubeConfig();
config.loadFromFile(process.argv[2]);
const api = config.makeApiClient(k8s.CustomObjectsApi);
const path = '/apis/route.openshift.io/v1/namespaces/default/routes';
const list = () =>
    api.listNamespacedCustomObject({group: 'route.openshift.io', version: 'v1', namespace: 'default', plural: 'routes'});
const informer = k8s.makeInformer(config, path, list);

const print = (event) => console.log(JSON.stringify(event));
const held = new Map();
for (const type of ['add', 'update', 'delete']) {
    informer.on(type, (object) => {
        if (type === 'delete') held.delete(object.metadata.name);
        else held.set(object.metadata.name, object.spec.path);
        print({type, name: object.metadata.name});
    });
}
// What every client does on a lost connection: start again from what it knows.
informer.on('error', (error) => {
    print({type: 'error', message: String(error)});
    setTimeout(() => informer.start(), 100);
});
await informer.start();
print({type: 'started'});

// A line on standard input asks for the state.
process.stdin.on('data', () => print({type: 'state', held: Object.fromEntries([...held].sort())}));
process.stdin.on('end', () => process.exit(0));
