// A Cluster and its Secret as a login. Pure.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "cluster/link.h"
#include "resource/kinds/cluster.h"

namespace fairlead::cluster {

// `data` as it stands in the Secret, in base64; empty for a Cluster without credentials. Keys: kubeconfig (its current
// context; spec.server says where), or token, or tls.crt and tls.key; ca.crt for a server whose certificate no public
// authority has signed; insecure-skip-tls-verify "true" for one that is not checked at all. Errors: invalid, naming
// the key ("data[token]") and its rule; never a value.
Result<Access> access_of(const resource::ClusterSpec& spec, const std::map<std::string, std::string>& data);

}  // namespace fairlead::cluster
