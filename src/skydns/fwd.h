// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::skydns {

struct Service;
struct RecordSet;
class Directory;
class Etcd;
class EtcdWriter;

}  // namespace fairlead::skydns
