// Judges all that is there and wanted at one name: who gets what, what has to go, what stays alone and why. The rules
// of the planner are here; plan.cpp brings the names together and asks for those where anything is to be said. Keeps
// its buffers from name to name. Pure; private to src/plan.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/company.h"
#include "plan/plan.h"

namespace fairlead::plan {

// What was ordered for one name.
struct NameOrders {
    const OwnershipOrder* away = nullptr;  // release or transfer, the first of them
    bool adopt_nobodys = false;
    std::vector<std::string_view> adopt_from;  // owners
};

// What is there or wanted at a name, in any order.
struct NameCase {
    std::string_view name;  // normal
    bool valid = true, unsure = false;
    const NameOrders* orders = nullptr;  // null: none
    std::vector<const dns::Endpoint*> present;
    std::vector<const Desired*> desired;
};

bool managed_type(const Options& options, std::string_view type);

class Judge {
public:
    // `first` is the first of the wishes: changes and skips name them by index.
    Judge(const Options& options, const Desired* first, Plan& plan) : options_(options), first_(first), plan_(plan) {}
    void judge(const NameCase& name);

private:
    enum class Standing { ours, adopted, other, nobody, unmanaged };
    struct There {
        const dns::Endpoint* endpoint = nullptr;
        Standing standing = Standing::ours;
        bool wanted = false, removed = false;
        bool told = false;  // some wish is about it, and says what became of it
        [[nodiscard]] bool movable() const { return standing == Standing::ours || standing == Standing::adopted; }
    };
    struct Wish {
        const Desired* desired = nullptr;
        There* match = nullptr;  // of the same set and type
        bool alive = true;       // still to be fulfilled
        [[nodiscard]] const dns::Endpoint& endpoint() const { return desired->endpoint; }
    };

    bool gather(const NameCase& name);
    void settle(const std::vector<const Desired*>& candidates);
    void give_away(const OwnershipOrder& order);
    void block();
    void drop_cnames();
    void separate_plain();
    void remove(bool unsure);
    void forgo(bool unsure);
    void tell_foreign();
    void emit();
    void emit_update(Wish& wish);
    void finish();

    There* find(const dns::Endpoint& like);
    [[nodiscard]] Standing standing(const dns::Endpoint& endpoint, const NameOrders* orders) const;
    [[nodiscard]] std::string removal_held(bool unsure) const;
    void skip(const dns::Endpoint& endpoint, std::string_view reason, std::string message, const Desired* desired);
    void drop(Wish& wish, std::string_view reason, std::string message);
    void change(Action action, const dns::Endpoint* before, const Desired* after, std::string_view reason,
                std::string message);

    const Options& options_;
    const Desired* first_;
    Plan& plan_;
    std::vector<There> there_;  // by type, set identifier
    std::vector<Wish> wishes_;  // the same; one of each
    std::vector<Change> changes_;
    std::vector<Skip> skipped_;
    Company company_, removed_, created_;
};

}  // namespace fairlead::plan
