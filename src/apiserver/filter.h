// Which objects of a table a list, watch or deletecollection is about: a namespace, a name, selectors. Decides from the
// name alone where that is enough, so that most watches never parse an object. A value; thread-safe once made.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/request_info.h"
#include "apiserver/selectable_memory.h"
#include "apiserver/status.h"
#include "resource/selector.h"
#include "store/object.h"

namespace fairlead::apiserver {

class Filter {
public:
    // `name` empty = any. Errors: 400 for selectors that cannot be read.
    static Outcome<Filter> make(const resource::Kind& kind, std::string_view ns, std::string_view name,
                                const QueryOptions& options);

    // Every name that can match starts with this.
    [[nodiscard]] const std::string& prefix() const { return prefix_; }
    // The only name that can match, if there is just one.
    [[nodiscard]] const std::optional<std::string>& only() const { return only_; }
    // No selector was given: everything below the prefix matches.
    [[nodiscard]] bool selects_all() const { return !name_ && !namespace_ && !needs_object(); }

    // `memory` may be null: then an object that has to be read is parsed for this call alone.
    [[nodiscard]] bool matches(const store::Object& object, SelectableMemory* memory = nullptr) const;

private:
    [[nodiscard]] bool needs_object() const { return !labels_.empty() || !fields_.empty(); }

    const resource::Kind* kind_ = nullptr;
    std::string prefix_;
    std::optional<std::string> only_;
    std::optional<std::string> name_, namespace_;  // pinned
    resource::Selector labels_, fields_;
};

}  // namespace fairlead::apiserver
