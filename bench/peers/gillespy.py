"""gillespy2's SSA: the C++ solver where there is a compiler, otherwise the one in NumPy."""
import os
import resource
import shutil
import site

from peer import counts, halved, serve

# The C++ solver builds with a Python that does not know this environment.
os.environ["PYTHONPATH"] = os.pathsep.join(site.getsitepackages())


def processor():
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in usage)


def prepare(model):
    import gillespy2
    import numpy

    names = model["species"]
    system = gillespy2.Model("m")
    system.add_species([gillespy2.Species(n, initial_value=i) for n, i in zip(names, model["initial"])])
    for number, reaction in enumerate(model["reactions"], 1):
        # Its propensity for two of one species is k S (S - 1).
        system.add_parameter(gillespy2.Parameter(f"k{number}", expression=halved(reaction)))
        sides = [counts(reaction[side], names) for side in ("reactants", "products")]
        system.add_reaction(gillespy2.Reaction(f"R{number}", *sides, rate=f"k{number}"))
    system.timespan(numpy.linspace(0, model["to"], model["steps"] + 1))
    compiled = shutil.which("g++") is not None
    solver = (gillespy2.SSACSolver if compiled else gillespy2.NumPySSASolver)(system)
    seed = 0

    def simulate(count):
        nonlocal seed
        seed += 1
        start = processor()
        results = solver.run(number_of_trajectories=count, seed=seed)
        seconds = processor() - start
        assert len(results[0]["time"]) == model["steps"] + 1, "not the times that were asked for"
        return seconds, [[result[name][-1] for name in names] for result in results]

    what = "SSACSolver (C++)" if compiled else "NumPySSASolver (no g++)"
    return f"gillespy2 {gillespy2.__version__}, {what}", simulate


serve(prepare)
