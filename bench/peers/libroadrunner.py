"""libroadrunner's `gillespie` integrator, on the fixed grid."""
import os
import sys

# This file has the package's name: the package must be found first.
folder = os.path.dirname(os.path.abspath(__file__))
sys.path.remove(folder)
sys.path.append(folder)

import time

from peer import counts, serve

HEAD = '<?xml version="1.0" encoding="UTF-8"?><sbml xmlns="http://www.sbml.org/sbml/level3/version1/core" level="3" version="1">'
MATH = '<math xmlns="http://www.w3.org/1998/Math/MathML">'


def sbml(model):
    names = model["species"]
    species = "".join(
        f'<species id="{name}" compartment="c" initialAmount="{initial}" hasOnlySubstanceUnits="true"'
        ' boundaryCondition="false" constant="false"/>'
        for name, initial in zip(names, model["initial"])
    )

    def references(side, indices):
        inner = "".join(
            f'<speciesReference species="{name}" stoichiometry="{times}" constant="true"/>'
            for name, times in counts(indices, names).items()
        )
        return f"<listOf{side}>{inner}</listOf{side}>" if inner else ""

    def law(reaction):
        # The law is the propensity as it stands.
        factors = f"<cn>{reaction['constant']}</cn>"
        for name, times in counts(reaction["reactants"], names).items():
            factors += f"<ci>{name}</ci>"
            if times == 2:
                factors += f"<apply><minus/><ci>{name}</ci><cn>1</cn></apply><cn>0.5</cn>"
        return f"<kineticLaw>{MATH}<apply><times/>{factors}</apply></math></kineticLaw>"

    reactions = "".join(
        f'<reaction id="R{number}" reversible="false" fast="false">'
        + references("Reactants", reaction["reactants"])
        + references("Products", reaction["products"])
        + law(reaction)
        + "</reaction>"
        for number, reaction in enumerate(model["reactions"], 1)
    )
    return (
        f'{HEAD}<model id="m"><listOfCompartments><compartment id="c" size="1" spatialDimensions="3" constant="true"/>'
        f"</listOfCompartments><listOfSpecies>{species}</listOfSpecies><listOfReactions>{reactions}</listOfReactions></model></sbml>"
    )


def prepare(model):
    import numpy
    import roadrunner

    runner = roadrunner.RoadRunner(sbml(model))
    runner.setIntegrator("gillespie")
    runner.integrator.variable_step_size = False
    runner.integrator.seed = 1
    runner.timeCourseSelections = ["time", *model["species"]]
    grid = numpy.linspace(0, model["to"], model["steps"] + 1)

    def simulate(count):
        seconds, states = 0.0, []
        for _ in range(count):
            start = time.process_time()
            runner.reset()
            result = runner.simulate(0, model["to"], model["steps"] + 1)
            seconds += time.process_time() - start
            states.append(list(result[-1, 1:]))
        assert numpy.allclose(result[:, 0], grid), "not the times that were asked for"
        return seconds, states

    return f"libroadrunner {roadrunner.__version__}, gillespie, fixed grid", simulate


serve(prepare)
