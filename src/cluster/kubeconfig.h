// The kubeconfig format: where a server is, whom to trust and who we are. Used by the CLI (its own file) and for
// Clusters (a Secret). Pure but for the files that it may be allowed to name.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/link.h"

namespace fairlead::cluster {

struct Kubeconfig {
    Access access;
    std::string name_space;  // of the context; empty: none
};

// Content of a file that the kubeconfig names.
using ReadFile = std::function<Result<std::string>(std::string_view name)>;

// `context` empty: current-context. Without `read`, only what stands in the text itself counts, and an entry that names
// a file is an error: a text from somebody else must not make us read our own files. Errors name the entry and what it
// lacks.
Result<Kubeconfig> parse_kubeconfig(std::string_view text, std::string_view context, const ReadFile& read);

}  // namespace fairlead::cluster
