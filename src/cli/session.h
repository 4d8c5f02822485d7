// What every client command works with: a terminal, the API behind a connection, and the types the server knows. Made
// once per command by command_line.cpp (or by a test). One thread.
#pragma once

#include <string>
#include <vector>

#include "cli/api.h"
#include "cli/discovery.h"
#include "cli/options.h"
#include "cli/terminal.h"

namespace fairlead::cli {

struct Session {
    Session(Transport& transport, Terminal& screen, std::string space, bool space_given, std::string kubeconfig_file)
        : terminal(screen),
          api(transport, screen),
          discovery(api),
          name_space(std::move(space)),
          namespace_given(space_given),
          kubeconfig(std::move(kubeconfig_file)) {}

    Terminal& terminal;
    Api api;
    Discovery discovery;
    std::string name_space;  // of -n, else of the context
    bool namespace_given;    // by -n
    std::string kubeconfig;  // for messages
};

// Shows a failure and, where we know it, what to do next. Returns the exit code: 2 if the command line was wrong,
// else 1.
int report(const Session& session, const Failure& failure);
// "error: ..." and exit code 2.
int wrong_usage(const Session& session, const std::string& message);

// A type with the names a person gave; no names = all of them.
struct Target {
    ResourceType type;
    std::vector<std::string> names;
};

// TYPE[,TYPE] [NAME...] or TYPE/NAME... Errors: not_found (a type), invalid (the forms are mixed).
Answer<std::vector<Target>> resolve_targets(const std::vector<std::string>& arguments, Session& session);

// The namespace to ask in: none for cluster-wide kinds and with -A.
std::string space_of(const Session& session, const ResourceType& type, bool all_namespaces);

// Whether a selection gives names, rather than types alone.
bool gives_names(const Selection& selection);

// The names that a selection means: those it gives, or those that are listed.
struct ObjectName {
    ResourceType type;
    std::string name_space, name;
};
Answer<std::vector<ObjectName>> name_all(const Selection& selection, Session& session);

// The objects that a selection names, each with its kind and apiVersion filled in. Errors of single names are reported
// at once and counted in `failed`; a missing name is no failure with `ignore_not_found`.
struct Found {
    ResourceType type;
    json::Value object;
};
Answer<std::vector<Found>> fetch(const Selection& selection, bool ignore_not_found, Session& session, int& failed);

// "routes" and the like from -l and --field-selector.
Query selector_query(const Selection& selection);

}  // namespace fairlead::cli
